"""Sorts unsigned keys in NumPy."""

import numpy as np


def reference(input, N, output=None):
    return np.sort(input).astype(np.int64)
