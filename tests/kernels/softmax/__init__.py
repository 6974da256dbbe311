"""The softmax of each row in fp32: ``solve(in, out, rows, columns)``. Bound by memory and by how often it is read."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, normal

SMALL = {"rows": 37, "columns": 300}
MODEL = {"rows": 8192, "columns": 1024}


def case(rows: int, columns: int) -> Case:
    values = 3 * normal((rows, columns), 4)
    exponentials = np.exp(values.astype(np.float64) - values.max(axis=1, keepdims=True))
    expected = exponentials / exponentials.sum(axis=1, keepdims=True)
    # The fast exponential's error grows with its argument (two units for expf, 2 + |1.2 x| for __expf), the sum's with
    # the root of its terms; all relative.
    relative = (64 + 4 * np.sqrt(columns)) * 2.0**-24
    return Case((values, Output(expected, np.float32, relative * expected + 1e-9), c_int(rows), c_int(columns)))
