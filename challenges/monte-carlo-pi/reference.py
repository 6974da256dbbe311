"""Counts points in a quarter circle, in NumPy."""

import numpy as np

#: Points looked at at once: few enough to stay in a processor's cache.
_POINTS = 1 << 16


def reference(points, N, pi=None):
    inside = 0
    for start in range(0, len(points), _POINTS):
        part = points[start : start + _POINTS].astype(np.float64)
        part *= part
        inside += int(np.count_nonzero(part[:, 0] + part[:, 1] < 2.0**32))
    return np.array([4.0 * inside / len(points)])
