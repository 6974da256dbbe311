"""A sum of two matrices and the RMS norm of its rows in NumPy, in float64, some rows at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def _rows(x, residual, weight, eps):
    """(outputs, magnitudes) of some rows."""
    z = x.astype(np.float64)
    z += residual
    inverse_root = 1.0 / np.sqrt(np.einsum("ij,ij->i", z, z)[:, None] / z.shape[1] + np.float64(eps))
    scale = inverse_root * weight
    z *= scale
    # The sum z is rounded once, which matters where it cancels. Squares added one after another are off by some
    # sqrt(C) / 3 roundoffs, of which the root halves the effect.
    size = np.abs(x.astype(np.float64))
    size += np.abs(residual)
    size *= np.abs(scale)
    size += (8.0 + 0.75 * np.sqrt(z.shape[1])) * np.abs(z)
    return z, size


def _chunks(count, width):
    step = max(1, _CHUNK // width)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _all(part, x, residual, weight, eps):
    result = np.empty(x.shape)
    for rows in _chunks(*x.shape):
        result[rows] = _rows(x[rows], residual[rows], weight.astype(np.float64), eps)[part]
    return result


def reference(x, residual, weight, N, C, eps):
    return _all(0, x, residual, weight, eps)


def magnitude(x, residual, weight, N, C, eps):
    return _all(1, x, residual, weight, eps)


def spot_check(rng, inputs, outputs):
    """Everything, in chunks of rows."""
    x, residual, weight = inputs["x"], inputs["residual"], inputs["weight"].astype(np.float64)
    for rows in _chunks(*x.shape):
        yield {"out": (np.arange(rows.start, rows.stop), *_rows(x[rows], residual[rows], weight, inputs["eps"]))}
