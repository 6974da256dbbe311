"""Rows less their mean, over their deviation, scaled, shifted: ``solve(in, gamma, beta, out, rows, columns)``, fp32."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, normal

SMALL = {"rows": 29, "columns": 260}
MODEL = {"rows": 8192, "columns": 1024}

EPSILON = 1e-5


def case(rows: int, columns: int) -> Case:
    values = normal((rows, columns), 13, 0) + 2
    gamma, beta = normal(columns, 13, 1), normal(columns, 13, 2)
    exact = values.astype(np.float64)
    centred = exact - exact.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON) * gamma + beta
    # Mean square less squared mean loses some bits where the mean is twice the deviation.
    tolerance = 8 * np.sqrt(columns) * 2.0**-24 * (np.abs(expected) + np.abs(beta) + 3 * np.abs(gamma) + 1)
    return Case((values, gamma, beta, Output(expected, np.float32, tolerance), c_int(rows), c_int(columns)))
