"""The gradient of an embedding in NumPy, in float64."""

import numpy as np

_ROWS = 200
_SUSPICIOUS_ROWS = 100
#: Columns at a time.
_CHUNK = 64


def make_inputs(rng, T, V, D, skew):
    tokens = np.minimum(V - 1, V * rng.random(T) ** skew).astype(np.int32)
    # The last one comes somewhere, so that no table ends with zeros alone.
    tokens[rng.integers(T)] = V - 1
    return {"tokens": tokens}


def _sums(gradients, tokens, count, *, absolute=False):
    order = np.argsort(tokens, kind="stable")
    named, firsts = np.unique(tokens[order], return_index=True)
    result = np.zeros((count, gradients.shape[1]))
    for start in range(0, gradients.shape[1], _CHUNK):
        part = gradients[:, start : start + _CHUNK][order].astype(np.float64)
        result[named, start : start + _CHUNK] = np.add.reduceat(np.abs(part) if absolute else part, firsts, axis=0)
    return result


def reference(gradients, tokens, T, V, D):
    return _sums(gradients, tokens, int(V))


def magnitude(gradients, tokens, T, V, D):
    return _sums(gradients, tokens, int(V), absolute=True)


def spot_check(rng, inputs, outputs):
    """Random rows, and those that times random signs are furthest from what they should be (Freivalds)."""
    gradients, tokens = np.asarray(inputs["gradients"][:]), np.asarray(inputs["tokens"][:])
    table, count = np.asarray(outputs["table"]), int(inputs["V"])
    rows = np.arange(count)
    if count > _ROWS + _SUSPICIOUS_ROWS:
        signs = rng.choice(np.array([-1.0, 1.0], np.float32), gradients.shape[1])
        away = np.abs(table @ signs - np.bincount(tokens, gradients @ signs, count))
        # What is no number is the most suspicious of all; NumPy sorts NaN last.
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), np.argsort(away)[-_SUSPICIOUS_ROWS:])
    place = np.full(count, -1)
    place[rows] = np.arange(len(rows))
    chosen = np.flatnonzero(place[tokens] >= 0)
    values = np.zeros((2, len(rows), gradients.shape[1]))
    if len(chosen):
        part, named = gradients[chosen], place[tokens[chosen]]
        values[0], values[1] = _sums(part, named, len(rows)), _sums(part, named, len(rows), absolute=True)
    return {"table": (rows, values[0], values[1])}
