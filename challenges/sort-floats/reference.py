"""Sorts in NumPy."""

import numpy as np


def reference(data, N):
    return np.sort(data).astype(np.float64)
