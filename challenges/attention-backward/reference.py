"""Gradients of softmax attention in NumPy, in float64, some queries at a time."""

import numpy as np

#: Scores at a time.
_CHUNK = 1 << 20


def _gradients(Q, K, V, dO, *, with_magnitudes):
    """Two dicts by output: the gradients, and how far rounding moves them in roundoffs (empty unless wanted)."""
    q, k, v, g = (array.astype(np.float64) for array in (Q, K, V, dO))
    scale = 1.0 / np.sqrt(q.shape[1])
    values = {"dQ": np.empty(q.shape), "dK": np.zeros(k.shape), "dV": np.zeros(v.shape)}
    doubts = {name: np.zeros(array.shape) for name, array in values.items()} if with_magnitudes else {}
    if with_magnitudes:
        q_sizes, k_sizes, v_sizes, g_sizes = (np.abs(array) for array in (q, k, v, g))
    step = max(1, _CHUNK // len(k))
    for start in range(0, len(q), step):
        rows = slice(start, start + step)
        scores = q[rows] @ k.T * scale
        distance = scores.max(axis=1, keepdims=True) - scores
        weights = np.exp(-distance)
        weights /= weights.sum(axis=1, keepdims=True)
        toward = g[rows] @ v.T
        mean = (weights * toward).sum(axis=1, keepdims=True)
        slopes = weights * (toward - mean)
        values["dV"] += weights.T @ g[rows]
        values["dQ"][rows] = slopes @ k * scale
        values["dK"] += slopes.T @ q[rows] * scale
        if not with_magnitudes:
            continue
        # A score is off by about u times the sum of its absolute products, or by u sqrt(d) / 4 times itself where one
        # accumulator adds d products of one sign; its exponential by u (distance + 3) besides. That is the relative
        # error of a weight, and its average that of the denominator. One accumulator for the denominator has the
        # standard error u sqrt(N) / 4 besides.
        products = np.maximum(q_sizes[rows] @ k_sizes.T * scale, 0.25 * np.sqrt(q.shape[1]) * np.abs(scores))
        relative = 6.0 + distance + products
        relative += (weights * relative).sum(axis=1, keepdims=True) + 0.5 * np.sqrt(len(k))
        sizes = g_sizes[rows] @ v_sizes.T
        off = weights * (relative * np.abs(toward) + sizes)
        slopes = np.abs(slopes) * relative + weights * (sizes + np.abs(mean) + off.sum(axis=1, keepdims=True))
        doubts["dV"] += (weights * relative).T @ g_sizes[rows]
        doubts["dQ"][rows] = slopes @ k_sizes * scale
        doubts["dK"] += slopes.T @ q_sizes[rows] * scale
    return values, doubts


def reference(Q, K, V, dO, M, N, d):
    return _gradients(Q, K, V, dO, with_magnitudes=False)[0]


def magnitude(Q, K, V, dO, M, N, d):
    return _gradients(Q, K, V, dO, with_magnitudes=True)[1]


def spot_check(rng, inputs, outputs):
    """Everything: each key's gradient needs all queries, so values and magnitudes come from one pass."""
    arrays = (np.asarray(inputs[name][:]) for name in ("Q", "K", "V", "dO"))
    values, doubts = _gradients(*arrays, with_magnitudes=True)
    return {name: (np.arange(len(values[name])), values[name], doubts[name]) for name in values}
