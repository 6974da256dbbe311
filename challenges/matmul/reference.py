"""C = A B in NumPy, in float64."""

import numpy as np

_RANDOM_ROWS = 40
_SUSPICIOUS_ROWS = 24


def reference(A, B, M, N, K):
    return A.astype(np.float64) @ B.astype(np.float64)


def magnitude(A, B, M, N, K):
    return np.abs(A).astype(np.float64) @ np.abs(B).astype(np.float64)


def spot_check(rng, inputs, outputs):
    """Random rows, and those where C times random signs is furthest from A times B times them (Freivalds)."""
    left, right = inputs["A"][:], inputs["B"][:]
    count = len(outputs["C"])
    if count <= _RANDOM_ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        rows = np.union1d(
            rng.choice(count, _RANDOM_ROWS, replace=False), _suspicious(rng, left, right, outputs["C"][:])
        )
    part = {**inputs, "A": left[rows], "B": right}
    return {"C": (rows, reference(**part), magnitude(**part))}


def _suspicious(rng, left, right, result):
    # In float64: the only noise left is that of the kernel's own rounding.
    signs = rng.choice(np.array([-1.0, 1.0]), (result.shape[1], 2))
    expected = left.astype(np.float64) @ (right.astype(np.float64) @ signs)
    distance = np.abs(result.astype(np.float64) @ signs - expected).max(axis=1)
    # What is no number is the most suspicious of all; NumPy sorts NaN last.
    return np.argsort(distance)[-_SUSPICIOUS_ROWS:]
