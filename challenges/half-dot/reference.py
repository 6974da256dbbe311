"""The dot product of two vectors of halves in NumPy, in float64."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

#: Elements multiplied at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 18
_THREADS = 8


def reference(A, B, N=None):
    return np.array([A.astype(np.float64) @ B.astype(np.float64)])


def magnitude(A, B, N=None):
    return reference(np.abs(A), np.abs(B))


def spot_check(rng, inputs, outputs):
    """Both sums in one pass, in chunks, on several threads."""
    first_factor, second_factor = inputs["A"], inputs["B"]
    size = int(inputs["N"])

    def sums(first):
        """Of every so many-th chunk, as there are threads: each goes through its own."""
        total = absolute = 0.0
        for start in range(first, size, _THREADS * _CHUNK):
            products = first_factor[start : start + _CHUNK].astype(np.float64)
            products *= second_factor[start : start + _CHUNK]
            total += products.sum()
            absolute += np.abs(products, out=products).sum()
        return total, absolute

    with ThreadPoolExecutor(_THREADS) as pool:
        firsts = range(0, min(size, _THREADS * _CHUNK), _CHUNK)
        total, absolute = np.sum(list(pool.map(sums, firsts)), axis=0)
    return {"result": (np.array([0]), np.array([total]), np.array([absolute]))}
