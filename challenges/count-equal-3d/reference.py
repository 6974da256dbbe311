"""How many elements equal a value, in NumPy."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

#: Elements compared at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 20
_THREADS = 8


def reference(input, N, M, K, P):
    return np.array([np.count_nonzero(input == P)], np.int64)


def spot_check(rng, inputs, outputs):
    """The whole count, in chunks, on several threads."""
    values, key = inputs["input"], inputs["P"]
    rows = len(values)
    step = max(1, _CHUNK * rows // values.size)

    def counts(first):
        """Of every so many-th chunk, as there are threads: each goes through its own."""
        starts = range(first, rows, _THREADS * step)
        return sum(np.count_nonzero(values[start : start + step] == key) for start in starts)

    with ThreadPoolExecutor(_THREADS) as pool:
        firsts = range(0, min(rows, _THREADS * step), step)
        total = sum(pool.map(counts, firsts))
    return {"output": (np.array([0]), np.array([total], np.int64), None)}
