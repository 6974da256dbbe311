"""Attention within a window in NumPy, in float64, some rows at a time."""

import numpy as np

#: Rows at a time: with them come some more keys than a window has.
_STEP = 128
#: Of more rows, the check of a timed call looks at this many runs.
_FEW = 1 << 12
_RUNS = 96


def _head(q, k, v, visible, *, exact):
    """(outputs, magnitudes or None) of some queries of a head, in the type of ``q``."""
    scale = q.dtype.type(1 / np.sqrt(q.shape[1]))
    scores = q @ k.T
    scores *= scale
    np.copyto(scores, -np.inf, where=~visible)
    distance = scores.max(axis=1, keepdims=True) - scores
    weights = np.exp(-distance)
    weights /= weights.sum(axis=1, keepdims=True)
    outputs = weights @ v
    if not exact:
        return outputs, None
    # A score is off by about u times the sum of its absolute products, or by u sqrt(d) / 4 times itself where one
    # accumulator adds d products of one sign; its exponential by u (distance + 3) besides. That is the relative error
    # of a weight, and its average that of the denominator.
    size = np.where(visible, np.abs(scores), 0.0)
    doubt = np.maximum(np.abs(q) @ np.abs(k).T * scale, 0.25 * np.sqrt(q.shape[1]) * size)
    doubt += np.where(visible, distance, 0.0)
    weights *= 6.0 + doubt
    return outputs, weights @ np.abs(v) + weights.sum(axis=1, keepdims=True) * np.abs(outputs)


def _rows(rows, kind, Q, K, V, window_size, *, exact):
    first, end = max(0, rows[0] - int(window_size)), min(len(Q), rows[-1] + int(window_size) + 1)
    q, k, v = (array.astype(kind) for array in (Q[rows[0] : rows[-1] + 1], K[first:end], V[first:end]))
    return _head(q, k, v, np.abs(rows[:, None] - np.arange(first, end)) <= window_size, exact=exact)


def _all(part, kind, Q, K, V, window_size):
    """The outputs (part 0) or magnitudes (part 1) of all rows."""
    count = len(Q)
    result = np.empty((count, Q.shape[1]), kind)
    for start in range(0, count, _STEP):
        rows = np.arange(start, min(start + _STEP, count))
        result[rows] = _rows(rows, kind, Q, K, V, window_size, exact=part == 1)[part]
    return result


def reference(Q, K, V, M, d, window_size):
    return _all(0, np.float64, Q, K, V, window_size)


def magnitude(Q, K, V, M, d, window_size):
    return _all(1, np.float64, Q, K, V, window_size)


def spot_check(rng, inputs, outputs):
    """Runs of rows at random places, at the beginning and at the end; all rows where there are few."""
    count = len(outputs["output"])
    arguments = {name: inputs[name] for name in ("Q", "K", "V", "window_size")}
    starts = np.arange(0, count, _STEP)
    if count > max(_FEW, _STEP):
        starts = np.union1d(rng.integers(0, count - _STEP + 1, _RUNS), [0, count - _STEP])
    for start in starts:
        rows = np.arange(start, min(start + _STEP, count))
        yield {"output": (rows, *_rows(rows, np.float64, **arguments, exact=True))}
