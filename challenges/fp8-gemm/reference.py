"""A product of 8-bit floats in NumPy, in float64.

Sums in single precision lose little, but the tensor cores of some GPUs keep fewer bits: for 8-bit floats those of
Hopper align the products of each 32 columns and the sum so far to the largest of them and cut off what lies 2^-13 of
it and more below. Each of n = K/32 steps so cuts 33 numbers, in random directions, and the sum itself, always in the
same. With r the root of the sum of the squared products that is at most about 2^-13 (sqrt(33 n) + n) (r + |R|), some
2 % of r at K = 4096. The magnitude has room for it.
"""

import numpy as np

_ROWS = 16
_SUSPICIOUS_ROWS = 48
#: 2^-13 as a multiple of the 8 u that the tolerance allows.
_CUT = 2.0**8


def _exactly(a, b, factor):
    """(outputs, magnitudes) of some rows."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    values = a @ b.T
    steps = -(-a.shape[1] // 32)
    sizes = np.sqrt((a * a) @ (b * b).T)
    sizes += np.abs(values)
    sizes *= _CUT * (np.sqrt(33.0 * steps) + steps)
    sizes += np.abs(a) @ np.abs(b).T
    return factor * values, np.abs(factor) * sizes


def _factor(scale_a, scale_b):
    return np.float64(scale_a) * np.float64(scale_b)


def reference(A, B, scale_a, scale_b, M, N, K):
    return _exactly(A, B, _factor(scale_a, scale_b))[0]


def magnitude(A, B, scale_a, scale_b, M, N, K):
    return _exactly(A, B, _factor(scale_a, scale_b))[1]


def spot_check(rng, inputs, outputs):
    """Random rows, and those that are furthest from what single precision makes of all of them."""
    a, b = (np.asarray(inputs[name][:]) for name in ("A", "B"))
    factor, count = _factor(inputs["scale_a"], inputs["scale_b"]), len(a)
    rows = np.arange(count)
    if count > _ROWS + _SUSPICIOUS_ROWS:
        rough = a.astype(np.float32) @ b.astype(np.float32).T
        rough *= np.float32(factor)
        away = np.abs(outputs["C"].astype(np.float32) - rough).max(axis=1)
        # What is no number is the most suspicious of all; NumPy sorts NaN last.
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), np.argsort(away)[-_SUSPICIOUS_ROWS:])
    return {"C": (rows, *_exactly(a[rows], b, factor))}
