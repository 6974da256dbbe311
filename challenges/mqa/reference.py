"""Multi-query attention in NumPy, in float64, some queries at a time."""

import numpy as np

#: Scores at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 18
#: Up to so many rows all are checked, else all heads of so many tokens.
_FEW, _TOKENS = 2048, 12


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


def _all(part, Q, K, V, batch, heads, seq_len):
    heads, length = int(heads), int(seq_len)
    result = np.empty(Q.shape)
    step = max(1, _CHUNK // length)
    for row in range(0, len(Q), length):
        keys = slice(row // length // heads * length, (row // length // heads + 1) * length)
        for start in range(0, length, step):
            queries = np.arange(start, min(start + step, length))
            k, v = (array[keys][: queries[-1] + 1] for array in (K, V))
            visible = np.arange(len(k)) <= queries[:, None]
            result[row + queries] = _attend(Q[row + queries], k, v, visible)[part]
    return result


def reference(Q, K, V, batch, heads, seq_len, head_dim):
    return _all(0, Q, K, V, batch, heads, seq_len)


def magnitude(Q, K, V, batch, heads, seq_len, head_dim):
    return _all(1, Q, K, V, batch, heads, seq_len)


def spot_check(rng, inputs, outputs):
    """All heads of random tokens, of the first and of the last; everything where there is little."""
    Q, K, V = (inputs[name] for name in ("Q", "K", "V"))
    heads, length = int(inputs["heads"]), int(inputs["seq_len"])
    count = len(K)
    tokens = np.arange(count)
    if len(Q) > _FEW:
        tokens = np.union1d(rng.choice(count, min(count, _TOKENS), replace=False), [0, count - 1])
    for token in tokens:
        image, at = divmod(int(token), length)
        rows = (image * heads + np.arange(heads)) * length + at
        keys = slice(image * length, image * length + at + 1)
        yield {"output": (rows, *_attend(Q[rows], K[keys], V[keys], np.ones((heads, at + 1), bool)))}
