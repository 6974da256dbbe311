"""The length of an interval times the mean of samples, in NumPy, in float64."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

#: Elements added up at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 20
_THREADS = 8


def reference(y_samples, a, b, n_samples):
    return np.array([(np.float64(b) - np.float64(a)) * y_samples.astype(np.float64).mean()])


def magnitude(y_samples, a, b, n_samples):
    return reference(np.abs(y_samples), a, b, n_samples)


def spot_check(rng, inputs, outputs):
    """Both sums in one pass, in chunks, on several threads."""
    values, size = inputs["y_samples"], int(inputs["n_samples"])
    length = np.float64(inputs["b"]) - np.float64(inputs["a"])

    def sums(first):
        """Of every so many-th chunk, as there are threads: each goes through its own."""
        total = absolute = 0.0
        for start in range(first, size, _THREADS * _CHUNK):
            chunk = values[start : start + _CHUNK]
            total += chunk.sum(dtype=np.float64)
            absolute += np.abs(chunk).sum(dtype=np.float64)
        return total, absolute

    with ThreadPoolExecutor(_THREADS) as pool:
        firsts = range(0, min(size, _THREADS * _CHUNK), _CHUNK)
        total, absolute = np.sum(list(pool.map(sums, firsts)), axis=0) * length / size
    return {"result": (np.array([0]), np.array([total]), np.array([absolute]))}
