"""A product with 4-bit weights in NumPy, in float64."""

import numpy as np

_ROWS = 16
_SUSPICIOUS_ROWS = 48
#: The root of a sum of squared terms counts so many roundoffs: weights may be rounded to half before they are
#: multiplied, which moves each product by up to 2^-12 of it, in a random direction.
_HALF_WEIGHTS = 3072.0


def _weights(w_q, scales, group_size, kind):
    weights = np.empty((len(w_q), 2 * w_q.shape[1]), kind)
    weights[:, 0::2] = w_q >> 4
    weights[:, 1::2] = w_q & 15
    weights -= 8
    return weights * np.repeat(scales.astype(kind), int(group_size), axis=1)


def _magnitude(x, weights):
    return np.abs(x) @ np.abs(weights).T + _HALF_WEIGHTS * np.sqrt((x * x) @ (weights * weights).T)


def reference(x, w_q, scales, M, N, K, group_size):
    return x.astype(np.float64) @ _weights(w_q, scales, group_size, np.float64).T


def magnitude(x, w_q, scales, M, N, K, group_size):
    return _magnitude(x.astype(np.float64), _weights(w_q, scales, group_size, np.float64))


def spot_check(rng, inputs, outputs):
    """Random rows, and those that are furthest from what single precision makes of all of them."""
    x, w_q, scales = (np.asarray(inputs[name][:]) for name in ("x", "w_q", "scales"))
    group_size, count = inputs["group_size"], len(x)
    if count <= _ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        rough = x.astype(np.float32) @ _weights(w_q, scales, group_size, np.float32).T
        away = np.abs(outputs["y"].astype(np.float32) - rough).max(axis=1)
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), np.argsort(away)[-_SUSPICIOUS_ROWS:])
    x, weights = x[rows].astype(np.float64), _weights(w_q, scales, group_size, np.float64)
    return {"y": (rows, x @ weights.T, _magnitude(x, weights))}
