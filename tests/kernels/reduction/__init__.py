"""The sum of n numbers in fp32: ``solve(in, out, n)``. Bound by memory, or by the atomics and barriers of poor ones."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, generator

SMALL = {"n": 10_007}
MODEL = {"n": 1 << 24}


def case(n: int) -> Case:
    # Small whole numbers: their sums are exact in fp32, in whatever order.
    values = generator(2).integers(-8, 9, n).astype(np.float32)
    return Case((values, Output(values.sum(dtype=np.int64, keepdims=True), np.float32), c_int(n)))
