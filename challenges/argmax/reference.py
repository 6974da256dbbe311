"""The first place of the largest number, in NumPy."""

import numpy as np


def reference(input, N, index=None):
    return np.array([np.argmax(input)])
