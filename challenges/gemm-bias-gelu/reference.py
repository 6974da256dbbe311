"""A product with bias and GELU in NumPy, in float64."""

import numpy as np

#: Rows that are compared exactly: random ones, and the most suspicious of those looked at in single precision, which
#: are runs of consecutive rows at random places.
_ROWS = 32
_SUSPICIOUS_ROWS = 16
_RUNS, _ROWS_OF_RUN = 24, 16
_ROOT = np.sqrt(2.0 / np.pi)


def _layer(a, b, bias):
    """(outputs, the sums that go into GELU, its slope at most)."""
    sums = a @ b
    sums += bias
    inner = np.tanh(a.dtype.type(_ROOT) * (sums + a.dtype.type(0.044715) * sums**3))
    return 0.5 * sums * (1.0 + inner), sums, inner


def _exactly(a, b, bias):
    """(outputs, magnitudes) of some rows."""
    a, b, bias = (array.astype(np.float64) for array in (a, b, bias))
    outputs, sums, inner = _layer(a, b, bias)
    slope = 0.5 * (1.0 + inner) + 0.5 * sums * (1.0 - inner * inner) * _ROOT * (1.0 + 3 * 0.044715 * sums * sums)
    # A fast tanh is off by some 2^-11 at the most, in hardware; half the sum is multiplied by it.
    doubt = np.abs(slope) * (np.abs(a) @ np.abs(b) + np.abs(bias)) + 256.0 * np.abs(sums) * (1.0 - np.abs(inner))
    return outputs, doubt + 2.0 * np.abs(sums)


def reference(A, B, bias, M, N, K):
    return _exactly(A, B, bias)[0]


def magnitude(A, B, bias, M, N, K):
    return _exactly(A, B, bias)[1]


def spot_check(rng, inputs, outputs):
    """Random rows, the first, the last, and of random runs the rows furthest from what single precision makes of them.

    All rows where there are few.
    """
    A, B, bias = (np.asarray(inputs[name][:]) for name in ("A", "B", "bias"))
    if len(A) <= _RUNS * _ROWS_OF_RUN:
        rows = np.arange(len(A))
    else:
        starts = rng.choice(len(A) // _ROWS_OF_RUN, _RUNS, replace=False) * _ROWS_OF_RUN
        looked_at = (starts[:, None] + np.arange(_ROWS_OF_RUN)).reshape(-1)
        rough = _layer(*(array.astype(np.float32) for array in (A[looked_at], B, bias)))[0]
        away = np.abs(outputs["C"][looked_at].astype(np.float32) - rough).max(axis=1)
        suspicious = looked_at[np.argsort(away)[-_SUSPICIOUS_ROWS:]]
        random = rng.choice(len(A), _ROWS, replace=False)
        rows = np.unique(np.concatenate([random, suspicious, [0, len(A) - 1]]))
    return {"C": (rows, *_exactly(A[rows], B, bias))}
