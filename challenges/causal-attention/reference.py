"""Causal attention in NumPy, in float64, some rows at a time."""

import numpy as np

#: Scores at a time.
_CHUNK = 1 << 21
_ROWS = 24
_SUSPICIOUS_ROWS = 40


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


def _rows(rows, kind, Q, K, V, *, exact):
    end = rows[-1] + 1
    i, j = rows[:, None], np.arange(end)
    q, k, v = (array.astype(kind) for array in (Q[rows], K[:end], V[:end]))
    return _head(q, k, v, j <= i, exact=exact)


def _all(part, kind, Q, K, V):
    """The outputs (part 0) or magnitudes (part 1) of all rows."""
    count = len(Q)
    result = np.empty((count, Q.shape[1]), kind)
    step = max(1, _CHUNK // len(K))
    for start in range(0, count, step):
        rows = np.arange(start, min(start + step, count))
        result[rows] = _rows(rows, kind, Q, K, V, exact=part == 1)[part]
    return result


def reference(Q, K, V, M, d):
    return _all(0, np.float64, Q, K, V)


def magnitude(Q, K, V, M, d):
    return _all(1, np.float64, Q, K, V)


def mistake(inputs, outputs):
    """A mask that leaves out the diagonal. Row 0 then sees no key, and what it becomes depends on the code."""
    Q, K, V = (inputs[name].astype(np.float64) for name in ("Q", "K", "V"))
    got, i, j = outputs["output"][1:], np.arange(1, len(Q))[:, None], np.arange(len(Q))
    if got.size < 4:
        return None
    strict = _head(Q[1:], K, V, j < i, exact=False)[0]
    right = _head(Q[1:], K, V, j <= i, exact=False)[0]
    near = 1e-3 * np.abs(V).max()
    if np.abs(strict - right).max() < 10 * near or not (np.abs(got - strict) <= near).all():
        return None
    return "the mask seems to leave out the diagonal: query i must see key i, too (j <= i)"


def spot_check(rng, inputs, outputs):
    """Random rows, and those that are furthest from what single precision makes of all of them."""
    got = outputs["output"]
    count = len(got)
    arguments = {name: inputs[name] for name in ("Q", "K", "V")}
    if count <= _ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        away = np.abs(got - _all(0, np.float32, **arguments)).max(axis=1)
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), np.argsort(away)[-_SUSPICIOUS_ROWS:])
    return {"output": (rows, *_rows(rows, np.float64, **arguments, exact=True))}
