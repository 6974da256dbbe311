"""Grouped-query attention in NumPy, in float64, some rows at a time."""

import numpy as np

#: Scores at a time.
_CHUNK = 1 << 21
_ROWS = 24
_SUSPICIOUS_ROWS = 40


def _head(q, k, v, *, exact):
    """(outputs, magnitudes or None) of some queries of a head, in the type of ``q``."""
    scale = q.dtype.type(1 / np.sqrt(q.shape[1]))
    scores = q @ k.T
    scores *= scale
    distance = scores.max(axis=1, keepdims=True) - scores
    weights = np.exp(-distance)
    weights /= weights.sum(axis=1, keepdims=True)
    outputs = weights @ v
    if not exact:
        return outputs, None
    # A score is off by about u times the sum of its absolute products, or by u sqrt(d) / 4 times itself where one
    # accumulator adds d products of one sign; its exponential by u (distance + 3) besides. That is the relative error
    # of a weight, and its average that of the denominator.
    doubt = np.maximum(np.abs(q) @ np.abs(k).T * scale, 0.25 * np.sqrt(q.shape[1]) * np.abs(scores))
    doubt += distance
    weights *= 6.0 + doubt
    return outputs, weights @ np.abs(v) + weights.sum(axis=1, keepdims=True) * np.abs(outputs)


def _rows(rows, kind, Q, K, V, num_q_heads, num_kv_heads, seq_len, *, exact):
    count, group = int(seq_len), int(num_q_heads) // int(num_kv_heads)
    parts = []
    for head in np.unique(rows // count):
        of_head = slice(head // group * count, (head // group + 1) * count)
        q, k, v = (array.astype(kind) for array in (Q[rows[rows // count == head]], K[of_head], V[of_head]))
        parts.append(_head(q, k, v, exact=exact))
    return tuple(np.concatenate(part) if part[0] is not None else None for part in zip(*parts, strict=True))


def _all(part, kind, Q, K, V, num_q_heads, num_kv_heads, seq_len):
    """The outputs (part 0) or magnitudes (part 1) of all rows."""
    count = len(Q)
    result = np.empty((count, Q.shape[1]), kind)
    step = max(1, _CHUNK // int(seq_len))
    for start in range(0, count, step):
        rows = np.arange(start, min(start + step, count))
        result[rows] = _rows(rows, kind, Q, K, V, num_q_heads, num_kv_heads, seq_len, exact=part == 1)[part]
    return result


def reference(Q, K, V, num_q_heads, num_kv_heads, seq_len, head_dim):
    return _all(0, np.float64, Q, K, V, num_q_heads, num_kv_heads, seq_len)


def magnitude(Q, K, V, num_q_heads, num_kv_heads, seq_len, head_dim):
    return _all(1, np.float64, Q, K, V, num_q_heads, num_kv_heads, seq_len)


def spot_check(rng, inputs, outputs):
    """Random rows, and those that are furthest from what single precision makes of all of them."""
    got = outputs["output"]
    count = len(got)
    arguments = {name: inputs[name] for name in ("Q", "K", "V", "num_q_heads", "num_kv_heads", "seq_len")}
    if count <= _ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        away = np.abs(got - _all(0, np.float32, **arguments)).max(axis=1)
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), np.argsort(away)[-_SUSPICIOUS_ROWS:])
    return {"output": (rows, *_rows(rows, np.float64, **arguments, exact=True))}
