"""C = alpha A B + beta C in NumPy, in float64."""

import numpy as np

_RANDOM_ROWS = 40
_SUSPICIOUS_ROWS = 24


def reference(A, B, C, M, N, K, alpha, beta):
    product = A.astype(np.float64) @ B.astype(np.float64)
    return float(alpha) * product + float(beta) * C.astype(np.float64)


def magnitude(A, B, C, M, N, K, alpha, beta):
    absolute = (np.abs(array).astype(np.float64) for array in (A, B, C))
    return reference(*absolute, M, N, K, abs(alpha), abs(beta))


def spot_check(rng, inputs, outputs):
    """Random rows, and those where the output times random signs is furthest from A times B times them (Freivalds)."""
    count = len(outputs["C"])
    if count <= _RANDOM_ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        rows = np.union1d(rng.choice(count, _RANDOM_ROWS, replace=False), _suspicious(rng, inputs, outputs["C"]))
    part = {**inputs, "A": inputs["A"][rows], "C": inputs["C"][rows]}
    return {"C": (rows, reference(**part), magnitude(**part))}


def _suspicious(rng, inputs, result):
    signs = rng.choice(np.array([-1.0, 1.0], np.float32), (result.shape[1], 2))
    product = inputs["A"].astype(np.float32) @ (inputs["B"].astype(np.float32) @ signs)
    expected = inputs["alpha"] * product + inputs["beta"] * (inputs["C"].astype(np.float32) @ signs)
    distance = np.abs(result.astype(np.float32) @ signs - expected).max(axis=1)
    # What is no number is the most suspicious of all; NumPy sorts NaN last.
    return np.argsort(distance)[-_SUSPICIOUS_ROWS:]
