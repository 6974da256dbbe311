"""n unsigned numbers of 32 bits in order: ``solve(in, out, n)``. Poor ones launch often and go over memory often."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, generator

SMALL = {"n": 5_000}
MODEL = {"n": 1 << 20}


def case(n: int) -> Case:
    values = generator(16).integers(0, 1 << 32, n, dtype=np.uint32)
    values[::7] = values[0]  # some equal ones
    return Case((values, Output(np.sort(values).astype(np.int64), np.uint32), c_int(n)))
