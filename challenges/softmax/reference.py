"""Softmax over a whole vector in NumPy, in float64."""

import numpy as np

_CHUNK = 1 << 20
_BLOCK = 4096
_BLOCKS = 256
#: Above this size single-precision exponentials, added in float64, are exact enough: their errors (2 u) vanish in a
#: bound of 1000 u.
_LARGE = 1 << 22


def _denominator(values):
    """(maximum, sum of exp(x - maximum), the mean of |x - maximum| weighted with the softmax)."""
    maximum = np.float64(values.max())
    total = weighted = 0.0
    kind = np.float32 if values.size > _LARGE else np.float64
    for start in range(0, values.size, _CHUNK):
        below = values[start : start + _CHUNK].astype(kind) - kind(maximum)
        exponentials = np.exp(below)
        total += float(exponentials.sum(dtype=np.float64))
        exponentials *= below
        weighted -= float(exponentials.sum(dtype=np.float64))
    return maximum, total, weighted / total


def _softmax(values, denominator):
    maximum, total, _ = denominator
    return np.exp(values.astype(np.float64) - maximum) / total


def _magnitude(values, softmax, denominator):
    # An exponential of an argument a is off by about u (|a| + 3), in the numerator and, on average, in the denominator.
    maximum, _, mean_distance = denominator
    return softmax * (6.0 + np.abs(values - maximum) + mean_distance)


def reference(input, output=None, N=None):
    return _softmax(input, _denominator(input))


def magnitude(input, output=None, N=None):
    denominator = _denominator(input)
    return _magnitude(input, _softmax(input, denominator), denominator)


def spot_check(rng, inputs, outputs):
    """The denominator in full; the elements in blocks at random places, always with the ends."""
    values = inputs["input"]
    denominator = _denominator(values)
    rows = np.arange(values.size)
    if values.size > _BLOCK * _BLOCKS:
        begins = np.concatenate([[0, values.size - _BLOCK], rng.integers(0, values.size - _BLOCK, _BLOCKS)])
        rows = (begins[:, None] + np.arange(_BLOCK)).reshape(-1)
    softmax = _softmax(values[rows], denominator)
    return {"output": (rows, softmax, _magnitude(values[rows], softmax, denominator))}
