"""A matrix with many zeros times a dense one, in NumPy, in float64."""

import numpy as np

_RANDOM_ROWS = 40
_SUSPICIOUS_ROWS = 24


def make_inputs(rng, M, N, K, nnz):
    A = np.zeros(M * N, np.float32)
    values = rng.uniform(0.5, 10, nnz) * rng.choice([-1, 1], nnz)
    A[rng.choice(M * N, nnz, replace=False, shuffle=False)] = values
    return {"A": A.reshape(M, N)}


def reference(A, B, M, N, K, nnz, C=None):
    return A.astype(np.float64) @ B.astype(np.float64)


def magnitude(A, B, M, N, K, nnz, C=None):
    return np.abs(A).astype(np.float64) @ np.abs(B).astype(np.float64)


def spot_check(rng, inputs, outputs):
    """Random rows, and those where the output times random signs is furthest from A times B times them (Freivalds)."""
    A, B, C = inputs["A"], inputs["B"], outputs["C"]
    if len(C) <= _RANDOM_ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(len(C))
    else:
        rows = np.union1d(rng.choice(len(C), _RANDOM_ROWS, replace=False), _suspicious(rng, A, B, C))
    part = A[rows].astype(np.float64)
    dense = B.astype(np.float64)
    return {"C": (rows, part @ dense, np.abs(part) @ np.abs(dense))}


def _suspicious(rng, A, B, C):
    signs = rng.choice(np.array([-1.0, 1.0], np.float32), (C.shape[1], 2))
    expected = A.astype(np.float32) @ (B.astype(np.float32) @ signs)
    distance = np.abs(C.astype(np.float32) @ signs - expected).max(axis=1)
    # What is no number is the most suspicious of all; NumPy sorts NaN last.
    return np.argsort(distance)[-_SUSPICIOUS_ROWS:]
