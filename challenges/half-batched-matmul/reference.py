"""Products of pairs of matrices of halves, in NumPy, in float64."""

import numpy as np

_RANDOM_ROWS = 40
_SUSPICIOUS_ROWS = 24


def reference(A, B, BATCH, M, N, K):
    left = A.reshape(BATCH, M, K).astype(np.float64)
    return (left @ B.reshape(BATCH, K, N).astype(np.float64)).reshape(BATCH * M, N)


def magnitude(A, B, BATCH, M, N, K):
    return reference(np.abs(A), np.abs(B), BATCH, M, N, K)


def spot_check(rng, inputs, outputs):
    """Random rows, and those where C times random signs is furthest from A times B times them (Freivalds)."""
    sizes = [int(inputs[name]) for name in ("BATCH", "M", "N", "K")]
    left, right, result = inputs["A"][:], inputs["B"][:], outputs["C"][:]
    count = len(result)
    if count <= _RANDOM_ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        rows = np.union1d(rng.choice(count, _RANDOM_ROWS, replace=False), _suspicious(rng, left, right, result, *sizes))
    values, magnitudes = np.empty((2, len(rows), sizes[2]))
    factors = right.reshape(sizes[0], sizes[3], sizes[2])
    for number, batch in enumerate(rows // sizes[1]):
        line, factor = left[rows[number]].astype(np.float64), factors[batch].astype(np.float64)
        values[number], magnitudes[number] = line @ factor, np.abs(line) @ np.abs(factor)
    return {"C": (rows, values, magnitudes)}


def _suspicious(rng, left, right, result, batch_size, rows, columns, depth):
    signs = rng.choice(np.array([-1.0, 1.0]), columns)
    folded = np.concatenate([part.astype(np.float64) @ signs for part in right.reshape(batch_size, depth, columns)])
    distance = np.empty(batch_size * rows)
    for batch in range(batch_size):
        here = slice(batch * rows, (batch + 1) * rows)
        expected = left[here].astype(np.float64) @ folded[batch * depth : (batch + 1) * depth]
        distance[here] = np.abs(result[here].astype(np.float64) @ signs - expected)
    # What is no number is the most suspicious of all; NumPy sorts NaN last.
    return np.argsort(distance)[-_SUSPICIOUS_ROWS:]
