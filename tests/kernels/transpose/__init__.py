"""out[j][i] = in[i][j] of fp32: ``solve(in, out, rows, columns)``. Bound by memory; poor ones by how they touch it."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, normal

SMALL = {"rows": 131, "columns": 76}
MODEL = {"rows": 4000, "columns": 3200}


def case(rows: int, columns: int) -> Case:
    matrix = normal((rows, columns), 1)
    return Case((matrix, Output(matrix.T.copy(), np.float32), c_int(rows), c_int(columns)))
