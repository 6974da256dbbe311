"""Batch norm in NumPy, in float64, some rows at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def _chunks(count, width):
    step = max(1, _CHUNK // width)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _statistics(x, eps):
    """(mean, variance + eps, mean of the absolute values) of each column."""
    count = len(x)
    total, absolute, squares = (np.zeros(x.shape[1]) for _ in range(3))
    for rows in _chunks(*x.shape):
        total += x[rows].sum(axis=0, dtype=np.float64)
    mean = total / count
    for rows in _chunks(*x.shape):
        part = x[rows].astype(np.float64)
        absolute += np.abs(part).sum(axis=0)
        part -= mean
        squares += np.einsum("ij,ij->j", part, part)
    return mean, squares / count + np.float64(eps), absolute / count


def _rows(x, statistics, gamma, beta, count):
    """(outputs, magnitudes) of some rows."""
    mean, variance, size = statistics
    x = x.astype(np.float64)
    scale = gamma / np.sqrt(variance)
    centred = (x - mean) * scale
    # Sums of N numbers, one after another, have a standard error of sqrt(N) / 4 roundoffs of their absolute mean, and
    # with thousands of them some are off by five times that. A variance found as the mean of the squares less the
    # square of the mean loses so much more as those are larger than it.
    growth = 8.0 + 1.5 * np.sqrt(count)
    doubt = (np.abs(x) + growth * size) * np.abs(scale)
    doubt += growth * (1.0 + mean * mean / variance) * np.abs(centred)
    doubt += 2.0 * np.abs(beta)
    return centred + beta, doubt


def _all(part, input, gamma, beta, eps):
    result, statistics = np.empty(input.shape), _statistics(input, eps)
    for rows in _chunks(*input.shape):
        result[rows] = _rows(input[rows], statistics, gamma.astype(np.float64), beta.astype(np.float64), len(input))[
            part
        ]
    return result


def reference(input, gamma, beta, N, C, eps):
    return _all(0, input, gamma, beta, eps)


def magnitude(input, gamma, beta, N, C, eps):
    return _all(1, input, gamma, beta, eps)


def spot_check(rng, inputs, outputs):
    """Everything, in chunks of rows."""
    x = inputs["input"].astype(np.float32)
    gamma, beta = (inputs[name].astype(np.float64) for name in ("gamma", "beta"))
    statistics = _statistics(x, inputs["eps"])
    for rows in _chunks(*x.shape):
        yield {"output": (np.arange(rows.start, rows.stop), *_rows(x[rows], statistics, gamma, beta, len(x)))}
