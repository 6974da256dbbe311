"""Merges in NumPy: a stable sort finds the two runs and merges them."""

import numpy as np


def make_inputs(rng, M, N, shift, runs):
    return {"A": _ascending(rng, M, runs), "B": _ascending(rng, N, runs) + np.float32(shift)}


def _ascending(rng, size, runs):
    if runs:
        return np.sort(rng.integers(-4, 5, size)).astype(np.float32)
    # Random steps upwards, scaled to -1000 ... 1000: cheaper than sorting.
    steps = np.cumsum(rng.random(size, np.float32), dtype=np.float64)
    return (steps * (2000.0 / (steps[-1] + 1.0)) - 1000.0).astype(np.float32)


def reference(A, B, M, N, C=None):
    return np.sort(np.concatenate([A, B]), kind="stable").astype(np.float64)
