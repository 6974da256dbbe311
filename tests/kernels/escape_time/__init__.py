"""When z ← z² + c leaves the circle, for each pixel: ``solve(out, height, width, limit)``. Uneven work, shared out.

The arithmetic is spelled in single roundings, so that the answer is exact.
"""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Array, Case, Output

SMALL = {"height": 61, "width": 90, "limit": 100}
MODEL = {"height": 1024, "width": 1024, "limit": 512}


def case(height: int, width: int, limit: int) -> Case:
    out = Output(_counts(height, width, limit), np.int32)
    return Case((out, c_int(height), c_int(width), c_int(limit)))


def _counts(height: int, width: int, limit: int) -> Array:
    """The number of steps, at most ``limit``, after which |z|² is above four; the plane is [-2, 1] x [-1.25, 1.25]."""
    step_x, step_y = np.float32(3) / np.float32(width), np.float32(2.5) / np.float32(height)
    c_x = np.broadcast_to(np.arange(width, dtype=np.float32) * step_x - np.float32(2), (height, width)).ravel()
    c_y = np.repeat(np.arange(height, dtype=np.float32) * step_y - np.float32(1.25), width)
    counts = np.full(height * width, limit, np.int64)
    left = np.arange(height * width)
    x, y = np.zeros_like(c_x), np.zeros_like(c_y)
    for step in range(limit):
        xx, yy = x * x, y * y
        out = xx + yy > 4
        counts[left[out]] = step
        keep = ~out
        left, x, y, xx, yy, c_x, c_y = (values[keep] for values in (left, x, y, xx, yy, c_x, c_y))
        xy = x * y
        y = xy + xy + c_y
        x = xx - yy + c_x
    return counts.reshape(height, width)
