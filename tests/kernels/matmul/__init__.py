"""C = A B in fp32, row-major: ``solve(A, B, C, m, n, k)``. Bound by loads from L1 and shared memory, then by FMAs."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, normal, rounding

SMALL = {"m": 70, "n": 132, "k": 36}
MODEL = {"m": 768, "n": 768, "k": 512}


def case(m: int, n: int, k: int) -> Case:
    a, b = normal((m, k), 3, 0), normal((k, n), 3, 1)
    product = a.astype(np.float64) @ b
    magnitude = np.abs(a).astype(np.float64) @ np.abs(b)
    return Case((a, b, Output(product, np.float32, rounding(k, magnitude)), c_int(m), c_int(n), c_int(k)))
