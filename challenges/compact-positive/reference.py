"""Stream compaction in NumPy."""

import numpy as np

#: Numbers looked at at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 16
#: Of more numbers, the check of a timed call compares what was kept of this many chunks.
_FEW = 1 << 20
_CHUNKS = 24


def reference(A, N, out=None):
    result = np.zeros(A.size)
    kept = A[A > 0]
    result[: kept.size] = kept
    return result


def spot_check(rng, inputs, outputs):
    """Counts everything; compares what was kept of chunks at random places, of the ends, and as much of the zeros."""
    values, size = inputs["A"], int(inputs["N"])
    starts = np.arange(0, size, _CHUNK)
    counts = [np.count_nonzero(values[start : start + _CHUNK] > 0) for start in starts]
    places = np.append(0, np.cumsum(counts))
    zeros = np.arange(places[-1], size, _CHUNK)
    for kept in _drawn(rng, len(starts), size):
        chunk = values[starts[kept] : starts[kept] + _CHUNK]
        yield {"out": (np.arange(places[kept], places[kept + 1]), chunk[chunk > 0], None)}
    for start in zeros[_drawn(rng, len(zeros), size)]:
        rows = np.arange(start, min(start + _CHUNK, size))
        yield {"out": (rows, np.zeros(rows.size), None)}


def _drawn(rng, count, size):
    """Some of so many chunks, with the first and the last two; all where there are few numbers."""
    if size <= _FEW or count <= _CHUNKS:
        return np.arange(count)
    return np.union1d(rng.integers(0, count, _CHUNKS), [0, count - 2, count - 1])
