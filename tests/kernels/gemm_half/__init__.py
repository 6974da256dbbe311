"""C = A B, fp16 with sums in fp32, row-major: ``solve(A, B, C, m, n, k)``, C in fp32. Tensor cores and their supply."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, normal, rounding

SMALL = {"m": 128, "n": 192, "k": 96}
MODEL = {"m": 1024, "n": 1024, "k": 512}


def case(m: int, n: int, k: int) -> Case:
    """Returns the case of m and n, multiples of 64, and k, one of 32.

    That is what kernels with tensor cores usually ask for.
    """
    a, b = normal((m, k), 10, 0, dtype=np.float16), normal((k, n), 10, 1, dtype=np.float16)
    product = a.astype(np.float64) @ b.astype(np.float64)
    magnitude = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    # Tensor cores cut off what they add rather than round it: errors do not cancel.
    tolerance = 4 * rounding(k, magnitude)
    return Case((a, b, Output(product, np.float32, tolerance), c_int(m), c_int(n), c_int(k)))
