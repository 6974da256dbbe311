"""Attention over ragged sequences in NumPy, in float64, sequence by sequence and head by head."""

import itertools

import numpy as np

#: Scores at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 18
#: Up to so many rows all are checked, else those of so many tokens.
_FEW, _TOKENS = 2048, 20


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


def _tokens(tokens, first, end, Q, K, V, heads, causal):
    """Yields (rows, outputs, magnitudes) of tokens, in order, of the sequence from ``first`` to ``end``, by head."""
    keys = np.arange(first, min(end, tokens[-1] + 1) if causal else end)
    visible = keys <= tokens[:, None] if causal else np.ones((len(tokens), len(keys)), bool)
    span = slice(keys[0] * heads, (keys[-1] + 1) * heads)
    k, v = (array[span].reshape(len(keys), heads, -1) for array in (K, V))
    for head in range(heads):
        rows = tokens * heads + head
        yield rows, *_attend(Q[rows], k[:, head], v[:, head], visible)


def _all(part, Q, K, V, offsets, heads, causal):
    result = np.empty(Q.shape)
    for first, end in itertools.pairwise(offsets):
        step = max(1, _CHUNK // max(1, end - first))
        for start in range(first, end, step):
            tokens = np.arange(start, min(start + step, end))
            for found in _tokens(tokens, first, end, Q, K, V, int(heads), causal):
                result[found[0]] = found[1 + part]
    return result


def reference(Q, K, V, offsets, total, sequences, heads, head_dim, causal):
    return _all(0, Q, K, V, offsets, heads, causal)


def magnitude(Q, K, V, offsets, total, sequences, heads, head_dim, causal):
    return _all(1, Q, K, V, offsets, heads, causal)


def spot_check(rng, inputs, outputs):
    """All heads of random tokens, of the first and of the last; everything where there is little."""
    Q, K, V = (inputs[name] for name in ("Q", "K", "V"))
    offsets, heads, causal = np.asarray(inputs["offsets"][:]), int(inputs["heads"]), int(inputs["causal"])
    count = int(inputs["total"])
    tokens = np.arange(count)
    if len(Q) > _FEW:
        tokens = np.union1d(rng.choice(count, min(count, _TOKENS), replace=False), [0, count - 1])
    for token in tokens:
        # The last sequence that begins at or before it; those before are empty if they begin there, too.
        at = int(np.searchsorted(offsets, token, side="right")) - 1
        for rows, values, sizes in _tokens(token[None], offsets[at], offsets[at + 1], Q, K, V, heads, causal):
            yield {"output": (rows, values, sizes)}
