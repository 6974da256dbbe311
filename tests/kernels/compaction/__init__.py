"""The positive ones of n integers, in any order, and how many: ``solve(in, out, count, n)``. The rest stays zero."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, generator

SMALL = {"n": 10_003}
MODEL = {"n": 1 << 23}


def case(n: int) -> Case:
    values = generator(6).integers(-1000, 1000, n, dtype=np.int32)
    kept = np.where(values > 0, values, 0)
    count = np.array([np.count_nonzero(kept)])
    return Case((values, Output(kept, np.int32, in_any_order=True), Output(count, np.int32), c_int(n)))
