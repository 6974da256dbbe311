"""The sum of a vector in NumPy, kept in float64."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

#: Elements added up at once: few enough to stay in a processor's cache, enough to be worth a thread's while.
_CHUNK = 1 << 19


def reference(input, output=None, N=None):
    return np.array([input.sum(dtype=np.float64)])


def magnitude(input, output=None, N=None):
    return np.array([np.abs(input).sum(dtype=np.float64)])


def spot_check(rng, inputs, outputs):
    """Both sums in one pass, in chunks, on several threads."""
    values = inputs["input"]

    def sums(start):
        chunk = values[start : start + _CHUNK]
        return chunk.sum(dtype=np.float64), np.abs(chunk).sum(dtype=np.float64)

    with ThreadPoolExecutor() as pool:
        total, absolute = np.sum(list(pool.map(sums, range(0, values.size, _CHUNK))), axis=0)
    return {"output": (np.array([0]), np.array([total]), np.array([absolute]))}
