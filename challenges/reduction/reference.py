"""The sum of a vector in NumPy, kept in float64."""

import numpy as np

_CHUNK = 1 << 22


def reference(input, output=None, N=None):
    return np.array([input.sum(dtype=np.float64)])


def magnitude(input, output=None, N=None):
    chunks = (input[start : start + _CHUNK] for start in range(0, input.size, _CHUNK))
    return np.array([sum(float(np.abs(chunk).sum(dtype=np.float64)) for chunk in chunks)])
