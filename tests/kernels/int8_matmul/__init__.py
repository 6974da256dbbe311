"""C = A Bᵀ of bytes with sums in 32 bits: ``solve(A, B, C, m, n, k)``, A of m x k, B of n x k."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, generator

SMALL = {"m": 64, "n": 128, "k": 96}
MODEL = {"m": 768, "n": 768, "k": 512}


def case(m: int, n: int, k: int) -> Case:
    """Returns the case of m and n, multiples of 64, and k, one of 32."""
    random = generator(12)
    a, b = (random.integers(-128, 128, (side, k), dtype=np.int8) for side in (m, n))
    # Products and sums are far below 2^53: the float64 product is exact, and many times as fast as NumPy's integers.
    product = (a.astype(np.float64) @ b.T.astype(np.float64)).astype(np.int64)
    return Case((a, b, Output(product, np.int32), c_int(m), c_int(n), c_int(k)))
