"""PageRank in NumPy, in float64."""

import numpy as np

#: So many numbers one accumulator may get.
_SERIAL = 65536


def make_inputs(rng, N, E, damping, iterations, dangling, ring, hub):
    if ring:
        return _ring(rng, N, E)
    # Some pages link to nobody, and some are linked to far more often than others.
    linking = rng.permutation(N)[: max(1, round(N * (1 - dangling)))]
    sources = linking[rng.integers(0, linking.size, E)].astype(np.int32)
    # The squares of evenly spread numbers gather near zero: ends of rows lie closer there.
    spread = E - int(hub * E)
    ends = np.sort((rng.random(N - 1) ** 2 * (spread + 1)).astype(np.int64))
    offsets = np.concatenate([[0], ends, [spread]])
    offsets[int(rng.integers(0, N)) + 1 :] += E - spread
    return {
        "row_offsets": offsets.astype(np.int32),
        "sources": sources,
        "out_degrees": np.bincount(sources, minlength=N).astype(np.int32),
    }


def _ring(rng, N, E):
    """A ring through all pages in random order, and few other links: ranks go round and hardly mix."""
    order = rng.permutation(N)
    more = E - N
    sources = np.concatenate([order, rng.integers(0, N, more)])
    targets = np.concatenate([np.roll(order, 1), rng.integers(0, N, more)])
    by_target = np.argsort(targets, kind="stable")
    return {
        "row_offsets": np.searchsorted(targets[by_target], np.arange(N + 1)).astype(np.int32),
        "sources": sources[by_target].astype(np.int32),
        "out_degrees": np.bincount(sources, minlength=N).astype(np.int32),
    }


def reference(row_offsets, sources, out_degrees, damping, iterations, N, E, ranks=None):
    count, damping = int(N), float(damping)
    ranks = np.full(count, 1.0 / count)
    has_links = out_degrees > 0
    filled = np.flatnonzero(row_offsets[:-1] < row_offsets[1:])
    for _ in range(int(iterations)):
        shares = np.where(has_links, ranks / np.maximum(out_degrees, 1), 0.0)
        spread = ranks[~has_links].sum()
        ranks = np.full(count, (1 - damping + damping * spread) / count)
        # reduceat would give a page without links to it the link behind.
        ranks[filled] += damping * np.add.reduceat(shares[sources], row_offsets[filled])
    return ranks


def magnitude(row_offsets, sources, out_degrees, damping, iterations, N, E, ranks=None):
    ranks = reference(row_offsets, sources, out_degrees, damping, iterations, N, E)
    return ranks * _sizes(row_offsets, out_degrees, float(damping), int(iterations))


def _sizes(row_offsets, out_degrees, damping, iterations):
    """How far ranks may be off beside what sums of N lose, in relation to themselves.

    Many pages have the same rank, and one accumulator that adds n equal numbers loses up to n u / 4 of them, as each
    addition rounds the same way: a twelfth of n here, which the tolerance triples. What pages without links spread is
    one such sum, and each round passes on what the one before lost.
    """
    dangling = np.count_nonzero(out_degrees == 0)
    spread = damping * dangling / len(out_degrees)
    share = spread / (1.0 - damping + spread) if spread else 0.0
    passed_on = sum(share**step for step in range(1, iterations + 1))
    links = int(np.diff(row_offsets).max())
    return 1.0 + (min(links, _SERIAL) + min(dangling, _SERIAL) * passed_on) / 12.0


def spot_check(rng, inputs, outputs):
    """Everything, from one computation of the ranks."""
    inputs = {name: np.asarray(value) for name, value in inputs.items()}
    ranks = reference(**inputs)
    sizes = _sizes(inputs["row_offsets"], inputs["out_degrees"], float(inputs["damping"]), int(inputs["iterations"]))
    return {"ranks": (np.arange(len(ranks)), ranks, ranks * sizes)}
