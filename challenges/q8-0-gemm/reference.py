"""A product with weights in Q8_0 in NumPy, in float64."""

import numpy as np

_ROWS = 16
_SUSPICIOUS_ROWS = 48
#: Weights in a block, and its bytes: a scale of two, then one for each weight.
_BLOCK, _BYTES = 32, 34
#: The root of a sum of squared terms counts so many roundoffs: weights may be rounded to half before they are
#: multiplied, which moves each product by up to 2^-11 of it, in a random direction. Of such a move the mean square is
#: at most (2^-12)²; the tolerance allows 8 u for each of these, six times the root.
_HALF_WEIGHTS = 3072.0


def make_inputs(rng, M, N, K, signs):
    blocks = np.empty((int(N), int(K) // _BLOCK, _BYTES), np.uint8)
    scales = rng.uniform(0.0005, 0.002, blocks.shape[:2])
    if signs:
        # Below 2^-14 halves are subnormal.
        scales *= rng.choice([-1, 1, -1 / 64, 1 / 64], scales.shape)
    scales = scales.astype("<f2")
    blocks[:, :, :2] = scales[:, :, None].view(np.uint8)
    blocks[:, :, 2:] = rng.integers(0, 256, (*blocks.shape[:2], _BLOCK), np.uint8)
    return {"W": blocks.reshape(int(N), -1)}


def _weights(W, kind):
    """Rows of weights, N x K, of the type ``kind``."""
    blocks = W.reshape(len(W), -1, _BYTES)
    scales = np.ascontiguousarray(blocks[:, :, :2]).view("<f2").astype(kind)
    return (blocks[:, :, 2:].view(np.int8).astype(kind) * scales).reshape(len(W), -1)


def _magnitude(x, weights):
    return np.abs(x) @ np.abs(weights).T + _HALF_WEIGHTS * np.sqrt((x * x) @ (weights * weights).T)


def reference(W, x, M, N, K):
    return x.astype(np.float64) @ _weights(W, np.float64).T


def magnitude(W, x, M, N, K):
    return _magnitude(x.astype(np.float64), _weights(W, np.float64))


def spot_check(rng, inputs, outputs):
    """Random rows, and those that are furthest from what single precision makes of all of them."""
    x, W = (np.asarray(inputs[name][:]) for name in ("x", "W"))
    count = len(x)
    if count <= _ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        rough = x.astype(np.float32) @ _weights(W, np.float32).T
        away = np.abs(outputs["y"].astype(np.float32) - rough).max(axis=1)
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), np.argsort(away)[-_SUSPICIOUS_ROWS:])
    x, weights = x[rows].astype(np.float64), _weights(W, np.float64)
    return {"y": (rows, x @ weights.T, _magnitude(x, weights))}
