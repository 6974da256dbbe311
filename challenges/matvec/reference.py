"""A matrix times a vector in NumPy, in float64."""

import numpy as np

#: Rows multiplied at once: few enough to stay in a processor's cache.
_ELEMENTS = 1 << 18


def reference(A, x, M, N, y=None):
    return _product(A, x, np.asarray)


def magnitude(A, x, M, N, y=None):
    return _product(A, x, np.abs)


def _product(A, x, prepare):
    x = prepare(x).astype(np.float64)
    rows = max(1, _ELEMENTS // A.shape[1])
    parts = (prepare(A[start : start + rows]).astype(np.float64) @ x for start in range(0, len(A), rows))
    return np.concatenate(list(parts))
