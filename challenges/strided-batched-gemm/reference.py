"""Products of many pairs of matrices in NumPy, in float64."""

import numpy as np


def reference(A, B, C=None, *, batch, M, N, K, stride_a, stride_b, stride_c):
    return _products(A, B, batch * stride_c, batch, M, N, K, stride_a, stride_b, stride_c)


def magnitude(A, B, C=None, *, batch, M, N, K, stride_a, stride_b, stride_c):
    return _products(np.abs(A), np.abs(B), batch * stride_c, batch, M, N, K, stride_a, stride_b, stride_c)


def _products(A, B, size, batch, M, N, K, stride_a, stride_b, stride_c):
    """All ``size`` elements of C. Raises ValueError for a matrix that would leave its array."""
    A, B = A.reshape(-1), B.reshape(-1)
    # Between the products nothing is written: there are zeros.
    result = np.zeros(size)
    for i in range(batch):
        left = A[i * stride_a :][: M * K].reshape(M, K).astype(np.float64)
        right = B[i * stride_b :][: K * N].reshape(K, N).astype(np.float64)
        result[i * stride_c :][: M * N] = (left @ right).reshape(-1)
    return result


def mistake(inputs, outputs):
    """Matrices of A, B or C that begin as far apart as if they were packed, or as those of another array."""
    got = outputs["C"].reshape(-1)
    names = ("batch", "M", "N", "K", "stride_a", "stride_b", "stride_c")
    sizes = {name: int(inputs[name]) for name in names}
    steps = {f"{rows}*{columns}": sizes[rows] * sizes[columns] for rows, columns in ("MK", "KN", "MN")}
    steps |= {name: sizes[name] for name in names if name.startswith("stride_")}
    right = _products(inputs["A"], inputs["B"], got.size, **sizes)
    near = 1e-3 * max(1.0, np.abs(right).max())
    for stride in ("stride_a", "stride_b", "stride_c"):
        for step in dict.fromkeys(steps.values()):
            try:
                wrong = _products(inputs["A"], inputs["B"], got.size, **{**sizes, stride: step})
            except ValueError:
                continue
            if np.abs(wrong - right).max() > 10 * near and (np.abs(got - wrong) <= near).all():
                words = " or ".join(name for name, value in steps.items() if value == step)
                return f"the matrices of {stride[-1].upper()} seem to begin {words} elements apart instead of {stride}"
    return None
