"""The distance of each of n vertices from vertex 0: ``solve(starts, targets, distance, n)``; -1 where no way leads.

The graph is given by rows (CSR) and goes both ways; some vertices have hundreds of neighbours.
"""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Array, Case, Output, generator

SMALL = {"n": 700}
MODEL = {"n": 1 << 18}


def case(n: int) -> Case:
    random = generator(19)
    # One end is drawn evenly, the other with a preference for small numbers; a few vertices get no edge.
    edges = 6 * n
    tail = random.integers(0, n, edges)
    head = (n * random.random(edges) ** 3).astype(np.int64)
    keep = (tail % 97 != 5) & (head % 97 != 5)
    tail, head = np.concatenate((tail[keep], head[keep])), np.concatenate((head[keep], tail[keep]))
    order = np.argsort(tail, kind="stable")
    targets = head[order].astype(np.int32)
    starts = np.concatenate(([0], np.cumsum(np.bincount(tail, minlength=n)))).astype(np.int32)
    return Case((starts, targets, Output(_distances(starts, targets, n), np.int32), c_int(n)))


def _distances(starts: Array, targets: Array, n: int) -> Array:
    distance = np.full(n, -1, np.int64)
    frontier = np.array([0])
    level = 0
    while len(frontier):
        distance[frontier] = level
        level += 1
        lengths = starts[frontier + 1] - starts[frontier]
        first = np.repeat(starts[frontier] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        neighbours = np.unique(targets[first + np.arange(lengths.sum())])
        frontier = neighbours[distance[neighbours] < 0]
    return distance
