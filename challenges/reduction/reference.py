"""The sum of a vector in NumPy, kept in float64."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

#: Elements added up at once: few enough to stay in a processor's cache, enough that the threads seldom wait for the
#: interpreter, which only one of them has at a time.
_CHUNK = 1 << 20
_THREADS = 8


def reference(input, output=None, N=None):
    return np.array([input.astype(np.float64).sum()])


def magnitude(input, output=None, N=None):
    return np.array([np.abs(input).astype(np.float64).sum()])


def spot_check(rng, inputs, outputs):
    """Both sums in one pass, in chunks, on several threads."""
    values = inputs["input"]

    def sums(first):
        """Of every so many-th chunk, as there are threads: each goes through its own."""
        absolutes = np.empty(min(_CHUNK, values.size), values.dtype)
        total = absolute = 0.0
        for start in range(first, values.size, _THREADS * _CHUNK):
            chunk = values[start : start + _CHUNK]
            total += chunk.sum(dtype=np.float64)
            absolute += np.abs(chunk, out=absolutes[: chunk.size]).sum(dtype=np.float64)
        return total, absolute

    with ThreadPoolExecutor(_THREADS) as pool:
        firsts = range(0, min(values.size, _THREADS * _CHUNK), _CHUNK)
        total, absolute = np.sum(list(pool.map(sums, firsts)), axis=0)
    return {"output": (np.array([0]), np.array([total]), np.array([absolute]))}
