"""Inclusive sums of n 32-bit integers: ``solve(in, out, n)``. Bound by memory: poor ones go over it more often."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, generator

SMALL = {"n": 12_345}
MODEL = {"n": 1 << 23}


def case(n: int) -> Case:
    values = generator(5).integers(-100, 100, n, dtype=np.int32)
    return Case((values, Output(np.cumsum(values, dtype=np.int64), np.int32), c_int(n)))
