"""Layer norm in NumPy, in float64, some rows at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def _rows(x, weight, bias, eps):
    """(outputs, magnitudes) of some rows."""
    x = x.astype(np.float64)
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    variance = np.einsum("ij,ij->i", centred, centred)[:, None] / x.shape[1] + np.float64(eps)
    scale = weight / np.sqrt(variance)
    centred *= scale
    # Sums of C numbers, one after another, have a standard error of sqrt(C) / 4 roundoffs of their absolute mean, and
    # with thousands of them some are off by five times that. A variance found as the mean of the squares less the
    # square of the mean loses so much more as those are larger than it.
    growth = 8.0 + 1.5 * np.sqrt(x.shape[1])
    lost = 1.0 + mean * mean / variance
    np.abs(x, out=x)
    size = x.mean(axis=1, keepdims=True)
    x += growth * size
    x *= np.abs(scale)
    x += growth * lost * np.abs(centred)
    x += 2.0 * np.abs(bias)
    centred += bias
    return centred, x


def _chunks(count, width):
    step = max(1, _CHUNK // width)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _all(part, input, weight, bias, eps):
    result = np.empty(input.shape)
    for rows in _chunks(*input.shape):
        result[rows] = _rows(input[rows], weight.astype(np.float64), bias.astype(np.float64), eps)[part]
    return result


def reference(input, weight, bias, N, C, eps):
    return _all(0, input, weight, bias, eps)


def magnitude(input, weight, bias, N, C, eps):
    return _all(1, input, weight, bias, eps)


def spot_check(rng, inputs, outputs):
    """Everything, in chunks of rows."""
    x = inputs["input"]
    weight, bias = (inputs[name].astype(np.float64) for name in ("weight", "bias"))
    for rows in _chunks(*x.shape):
        yield {"output": (np.arange(rows.start, rows.stop), *_rows(x[rows], weight, bias, inputs["eps"]))}
