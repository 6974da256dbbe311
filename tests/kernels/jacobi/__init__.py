"""Steps of Jacobi's iteration on a plane, its border kept, fp32: ``solve(in, out, height, width, steps)``."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, normal

SMALL = {"height": 67, "width": 130, "steps": 6}
MODEL = {"height": 1024, "width": 2048, "steps": 12}


def case(height: int, width: int, steps: int) -> Case:
    """``steps`` is even."""
    start = normal((height, width), 17)
    plane = start.astype(np.float64)
    for _ in range(steps):
        inner = plane[:-2, 1:-1] + plane[2:, 1:-1] + plane[1:-1, :-2] + plane[1:-1, 2:]
        plane = plane.copy()
        plane[1:-1, 1:-1] = inner / 4
    # Each step averages the errors of the last and adds three roundings of its own.
    tolerance = steps * 4 * 2.0**-24 * np.abs(start).max()
    out = Output(plane, np.float32, tolerance)
    return Case((start, out, c_int(height), c_int(width), c_int(steps)))
