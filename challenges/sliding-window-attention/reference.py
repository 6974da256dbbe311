"""Causal attention in a sliding window in NumPy, in float64, some queries at a time."""

import numpy as np

#: Queries at a time: with them come as many more keys as the window has.
_STEP = 256
#: Up to so many rows all are checked, else so many runs of them.
_FEW, _RUNS, _ROWS_OF_RUN = 2048, 32, 4


def _attend(q, k, v, visible):
    """(outputs, magnitudes) of some queries of a head.

    Single precision: a score is off by about u times the sum of its absolute products, its exponential by
    u (distance + 3) besides; that is the relative error of a weight, and its average that of the denominator. Half
    precision: a kernel may round queries that it has scaled, and weights, each by up to 2^-11; such errors are
    independent, so that the root of the sum of their squares counts, of which 4 · 2^-11 is allowed. Weights too small
    for half precision are lost.
    """
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    scale = 1.0 / np.sqrt(q.shape[1])
    distance = q @ k.T
    distance *= scale
    np.copyto(distance, -np.inf, where=~visible)
    np.subtract(distance.max(axis=1, keepdims=True), distance, out=distance)
    weights = np.exp(-distance)
    total = weights.sum(axis=1, keepdims=True)
    weights /= total
    outputs = weights @ v
    doubt = np.abs(q) @ np.abs(k).T * scale
    doubt += np.where(visible, distance, 0.0)
    doubt += 6.0
    doubt *= weights
    sizes = doubt @ np.abs(v) + doubt.sum(axis=1, keepdims=True) * np.abs(outputs)
    squares = v * v
    rounded = np.square(weights * (1.0 + 2.0 * scale * np.sqrt((q * q) @ (k * k).T)))
    spread = np.sqrt(rounded @ squares + rounded.sum(axis=1, keepdims=True) * np.square(outputs))
    return outputs, sizes + 2.0**13 * spread + np.sqrt(visible @ squares) / total


def _queries(start, end, head, Q, K, V, length, window):
    """(outputs, magnitudes) of queries ``start`` ... ``end`` - 1 of a head."""
    first = max(0, start - window + 1)
    queries, keys = np.arange(start, end)[:, None], np.arange(first, end)
    visible = (keys <= queries) & (keys > queries - window)
    base = head * length
    k, v = (array[base + first : base + end] for array in (K, V))
    return _attend(Q[base + start : base + end], k, v, visible)


def _all(part, Q, K, V, heads, seq_len, window):
    length, result = int(seq_len), np.empty(Q.shape)
    for head in range(int(heads)):
        for start in range(0, length, _STEP):
            end = min(start + _STEP, length)
            values = _queries(start, end, head, Q, K, V, length, int(window))[part]
            result[head * length + start : head * length + end] = values
    return result


def reference(Q, K, V, heads, seq_len, head_dim, window):
    return _all(0, Q, K, V, heads, seq_len, window)


def magnitude(Q, K, V, heads, seq_len, head_dim, window):
    return _all(1, Q, K, V, heads, seq_len, window)


def spot_check(rng, inputs, outputs):
    """Runs of rows at random places, at the beginning and at the end; everything where there is little."""
    Q, K, V = (inputs[name] for name in ("Q", "K", "V"))
    length, window = int(inputs["seq_len"]), int(inputs["window"])
    count, size = len(Q), min(length, _STEP if len(Q) <= _FEW else _ROWS_OF_RUN)
    runs = np.arange(0, count, size) if count <= _FEW else rng.integers(0, count // size, _RUNS) * size
    for at in np.union1d(runs, [0, count - size]):
        head, start = divmod(int(at), length)
        # A run that crosses into the next head ends with its own.
        end = min(start + size, length)
        parts = _queries(start, end, head, Q, K, V, length, window)
        yield {"output": (np.arange(head * length + start, head * length + end), *parts)}
