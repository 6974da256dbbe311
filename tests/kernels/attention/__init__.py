"""softmax(Q Kᵀ / 8) V for some heads of width 64, fp16 in, fp32 out: ``solve(Q, K, V, out, heads, length)``."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, normal

SMALL = {"heads": 2, "length": 128}
MODEL = {"heads": 12, "length": 512}

WIDTH = 64


def case(heads: int, length: int) -> Case:
    """``length`` is a multiple of 64."""
    q, k, v = (normal((heads, length, WIDTH), 11, i, dtype=np.float16) for i in range(3))
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / 8
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    expected = weights @ v.astype(np.float64)
    # Weights may be rounded to fp16 on their way to the tensor cores.
    tolerance = 4 * 2.0**-11 * (weights @ np.abs(v).astype(np.float64)) + 1e-6
    return Case((q, k, v, Output(expected, np.float32, tolerance), c_int(heads), c_int(length)))
