"""Floyd and Warshall's algorithm in NumPy, in float64."""

import numpy as np

#: Rows updated at once: few enough to stay in a processor's cache.
_ROWS = 64
#: Nodes that paths are led through before the next rows are taken.
_NODES = 32


def make_inputs(rng, N, density, potential, ring, shortness):
    dist = rng.uniform(0.1, 10.1, (N, N))
    dist[rng.random((N, N)) >= density] = np.inf
    if ring:
        order = rng.permutation(N)
        dist[order, np.roll(order, 1)] = rng.uniform(0.1, 10.1, N) / shortness
    # Potentials change the length of every cycle by nothing.
    height = rng.uniform(-potential, potential, N)
    dist += height[:, None] - height
    np.fill_diagonal(dist, 0)
    return {"dist": dist.astype(np.float32)}


def reference(dist, N, output=None):
    paths = dist.astype(np.float64)
    for first in range(0, len(paths), _NODES):
        nodes = slice(first, min(first + _NODES, len(paths)))
        # Within the rows of these nodes first; every other row then only needs them as they are now.
        _lead_through(paths[nodes], paths[nodes], nodes)
        for start in range(0, len(paths), _ROWS):
            _lead_through(paths[start : start + _ROWS], paths[nodes], nodes)
    return paths


def _lead_through(rows, through, nodes):
    longer = np.empty_like(rows)
    for row, k in enumerate(range(nodes.start, nodes.stop)):
        np.add(rows[:, k, None], through[row], out=longer)
        np.minimum(rows, longer, out=rows)


def magnitude(dist, N, output=None):
    # Lengths of either sign may cancel along a path; no part of a shortest path is longer than the path by more than
    # a few of the longest edges.
    finite = dist[np.isfinite(dist)]
    paths = reference(dist, N)
    return np.abs(paths) + (4.0 * float(np.abs(finite).max()) if finite.size and finite.min() < 0 else 0.0)
