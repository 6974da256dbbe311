"""A 7 x 7 filter over an image, zeros around it, in fp32: ``solve(in, weights, out, height, width)``."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, normal, rounding

SMALL = {"height": 45, "width": 101}
MODEL = {"height": 2000, "width": 2000}


def case(height: int, width: int) -> Case:
    image, weights = normal((height, width), 8, 0), normal((7, 7), 8, 1)
    padded = np.pad(image.astype(np.float64), 3)
    expected = np.zeros((height, width))
    magnitude = np.zeros((height, width))
    for y in range(7):
        for x in range(7):
            term = padded[y : y + height, x : x + width] * np.float64(weights[y, x])
            expected += term
            magnitude += np.abs(term)
    out = Output(expected, np.float32, rounding(49, magnitude))
    return Case((image, weights, out, c_int(height), c_int(width)))
