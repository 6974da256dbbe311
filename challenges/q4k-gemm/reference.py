"""A product with weights in Q4_K in NumPy, in float64."""

import numpy as np

_ROWS = 16
_SUSPICIOUS_ROWS = 48
#: Weights in a super-block and in a block, and the bytes of a super-block.
_SUPER, _BLOCK, _BYTES = 256, 32, 144
#: The root of a sum of squared terms counts so many roundoffs: weights may be rounded to half before they are
#: multiplied, and so may a block's scale and minimum before weights are made of them. Each moves what it is part of by
#: up to 2^-11, in a random direction, with a mean square of at most (2^-12)²; the tolerance allows 8 u for each of
#: these, six times the root.
_HALF_WEIGHTS = 3072.0


def make_inputs(rng, M, N, K, least, signs):
    shape = (int(N), int(K) // _SUPER)
    blocks = rng.integers(0, 256, (*shape, _BYTES), np.uint8)
    scale = rng.uniform(0.0002, 0.0006, shape)
    minimum = scale * rng.uniform(0.7, 1.3, shape) * least
    if signs:
        # Below 2^-14 halves are subnormal.
        scale, minimum = (values * rng.choice([-1, 1, -1 / 64, 1 / 64], shape) for values in (scale, minimum))
    for at, values in ((0, scale), (2, minimum)):
        blocks[:, :, at : at + 2] = values.astype("<f2")[:, :, None].view(np.uint8)
    return {"W": blocks.reshape(int(N), -1)}


def _parts(W, kind):
    """(scale times weight, minimum) of each weight: two arrays of N x K/32 x 32 and N x K/32 x 1, of type ``kind``."""
    blocks = W.reshape(len(W), -1, _BYTES)
    d, dmin = (np.ascontiguousarray(blocks[:, :, at : at + 2]).view("<f2").astype(kind) for at in (0, 2))
    low, middle, high = (blocks[:, :, at : at + 4] for at in (4, 8, 12))
    # Of the first four blocks: the low six bits of bytes. Of the others: low four bits in the
    # last four bytes, high two bits in what the first eight leave.
    scales = np.concatenate([low & 63, high & 15 | low >> 6 << 4], axis=2)
    minima = np.concatenate([middle & 63, high >> 4 | middle >> 6 << 4], axis=2)
    quants = blocks[:, :, 16:].reshape(len(W), -1, 4, 1, _BLOCK)
    quants = np.concatenate([quants & 15, quants >> 4], axis=3).reshape(len(W), -1, _BLOCK)
    scales, minima = ((a * b).reshape(len(W), -1, 1) for a, b in ((d, scales), (dmin, minima)))
    return quants * scales, minima


def _weights(W, kind):
    scaled, minima = _parts(W, kind)
    scaled -= minima
    return scaled.reshape(len(W), -1)


def _values_and_magnitudes(x, W):
    scaled, minima = _parts(W, np.float64)
    values, sizes, squares = np.zeros((3, len(x), len(W)))
    for block in range(scaled.shape[1]):
        part = x[:, block * _BLOCK : (block + 1) * _BLOCK]
        left, right = scaled[:, block], minima[:, block]
        above, below = part @ left.T, part.sum(axis=1, keepdims=True) * right.T
        values += above - below
        both = np.abs(left) + np.abs(right)
        sizes += np.abs(part) @ both.T
        squares += (part * part) @ (both * both).T + above * above + below * below
    return values, sizes + _HALF_WEIGHTS * np.sqrt(squares)


def reference(W, x, M, N, K):
    return x.astype(np.float64) @ _weights(W, np.float64).T


def magnitude(W, x, M, N, K):
    return _values_and_magnitudes(x.astype(np.float64), W)[1]


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
    return {"y": (rows, *_values_and_magnitudes(x[rows].astype(np.float64), W))}
