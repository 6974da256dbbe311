"""How often each of 256 values is among n bytes: ``solve(in, bins, n)``. A third of them are the same, as in images."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, generator

SMALL = {"n": 20_011}
MODEL = {"n": 1 << 25}


def case(n: int) -> Case:
    random = generator(7)
    values = random.integers(0, 256, n, dtype=np.uint8)
    values[random.random(n, dtype=np.float32) < 1 / 3] = 17
    return Case((values, Output(np.bincount(values, minlength=256), np.uint32), c_int(n)))
