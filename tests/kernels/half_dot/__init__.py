"""y = A x, a dot product to each row, fp16 in, fp32 out: ``solve(A, x, y, rows, columns)``. Bound by memory."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, generator

SMALL = {"rows": 61, "columns": 520}
MODEL = {"rows": 8192, "columns": 4096}


def case(rows: int, columns: int) -> Case:
    """``columns`` is a multiple of eight."""
    random = generator(14)
    # Multiples of 1/256 below 1/4: products and the sums of some dozens are exact in fp32, and nearly so in fp16.
    a, x = (random.integers(-64, 65, shape, dtype=np.int16) for shape in ((rows, columns), columns))
    matrix, vector = (values.astype(np.float32) / 256 for values in (a, x))
    expected = (matrix @ vector).astype(np.float64)
    # Sums of eight products in fp16: two roundings of 2^-11 each to a product, errors independent.
    tolerance = 2.0**-11 * np.sqrt(columns) + 2.0**-24 * columns
    return Case(
        (
            matrix.astype(np.float16),
            vector.astype(np.float16),
            Output(expected, np.float32, tolerance),
            c_int(rows),
            c_int(columns),
        )
    )
