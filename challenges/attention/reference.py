"""Softmax attention in NumPy, in float64, some rows at a time."""

import numpy as np

_CHUNK_ELEMENTS = 1 << 22
_ROWS = 64
#: Up to so many rows all are checked.
_ALL_ROWS = 512


def _rows(queries, keys, values, *, with_magnitude):
    """(outputs, magnitudes or None) for some queries."""
    width = np.sqrt(np.float64(queries.shape[1]))
    scores = queries @ keys.T / width
    distance = scores.max(axis=1, keepdims=True) - scores
    weights = np.exp(-distance)
    weights /= weights.sum(axis=1, keepdims=True)
    outputs = weights @ values
    if not with_magnitude:
        return outputs, None
    # A score is off by about u times the sum of its absolute products, or by u sqrt(d) / 4 times itself where one
    # accumulator adds d products of one sign; its exponential by u (distance + 3) besides. That is the relative error
    # of a weight, and its average that of the denominator.
    doubt = np.maximum(np.abs(queries) @ np.abs(keys).T / width, 0.25 * width * np.abs(scores))
    weights *= 6.0 + distance + doubt
    return outputs, weights @ np.abs(values) + weights.sum(axis=1, keepdims=True) * np.abs(outputs)


def _attention(Q, K, V, *, with_magnitude):
    queries, keys, values = (array.astype(np.float64) for array in (Q, K, V))
    result = np.empty(queries.shape)
    step = max(1, _CHUNK_ELEMENTS // len(keys))
    for start in range(0, len(queries), step):
        part = _rows(queries[start : start + step], keys, values, with_magnitude=with_magnitude)
        result[start : start + step] = part[1] if with_magnitude else part[0]
    return result


def reference(Q, K, V, M, N, d):
    return _attention(Q, K, V, with_magnitude=False)


def magnitude(Q, K, V, M, N, d):
    return _attention(Q, K, V, with_magnitude=True)


def spot_check(rng, inputs, outputs):
    """Random rows, with the first and the last; all rows where there are few."""
    queries = inputs["Q"]
    count = len(queries)
    if count <= _ALL_ROWS:
        rows = np.arange(count)
    else:
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), [0, count - 1])
    keys, values = (inputs[name].astype(np.float64) for name in ("K", "V"))
    return {"output": (rows, *_rows(queries[rows].astype(np.float64), keys, values, with_magnitude=True))}
