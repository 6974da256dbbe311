"""Products of many pairs of matrices in NumPy, in float64."""

import numpy as np


def reference(A, B, C=None, *, batch, M, N, K, stride_a, stride_b, stride_c):
    return _products(A, B, M, N, K, stride_c)


def magnitude(A, B, C=None, *, batch, M, N, K, stride_a, stride_b, stride_c):
    return _products(np.abs(A), np.abs(B), M, N, K, stride_c)


def _products(A, B, M, N, K, stride_c):
    # Between the products nothing is written: there are zeros.
    result = np.zeros((len(A), stride_c))
    for left, right, product in zip(A, B, result, strict=True):
        left = left[: M * K].reshape(M, K).astype(np.float64)
        product[: M * N] = (left @ right[: K * N].reshape(K, N).astype(np.float64)).reshape(-1)
    return result
