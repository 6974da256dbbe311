"""A block of Llama with grouped queries, in NumPy, in float64."""

import numpy as np

_WIDTH, _HEADS, _KEY_HEADS, _HEAD, _HIDDEN = 512, 8, 2, 64, 1408
_EPS = 1e-5
#: Name, shape and spread of the weights in the order in which they lie; norms spread around 1.
_PARTS = (
    ("norm1", (_WIDTH,), 0.2),
    ("q", (_WIDTH, _WIDTH), 0.05),
    ("k", (_KEY_HEADS * _HEAD, _WIDTH), 0.05),
    ("v", (_KEY_HEADS * _HEAD, _WIDTH), 0.05),
    ("out", (_WIDTH, _WIDTH), 0.05),
    ("norm2", (_WIDTH,), 0.2),
    ("gate", (_HIDDEN, _WIDTH), 0.05),
    ("up", (_HIDDEN, _WIDTH), 0.05),
    ("down", (_WIDTH, _HIDDEN), 0.03),
)


def make_inputs(rng, seq_len, repel):
    """All weights, and tables of angles. ``repel`` makes keys that many times the negatives of the queries of their
    heads, nearly: the scores of tokens that are alike are then far below zero."""
    parts = []
    for name, shape, spread in _PARTS:
        part = rng.standard_normal(int(np.prod(shape)), np.float32) * np.float32(spread)
        if repel and name == "q":
            heads = part.reshape(_KEY_HEADS, -1, _HEAD, _WIDTH)
            heads[:, 1:] = heads[:, :1] + np.float32(0.1) * heads[:, 1:]
            opposite = -np.float32(repel) * heads[:, 0].ravel()
        if repel and name == "k":
            part = opposite + np.float32(0.1) * part
        parts.append(part + np.float32(1) if name in ("norm1", "norm2") else part)
    # Positions need not begin at 0: the tables are to be read, not made.
    positions = rng.integers(0, 5000) + np.arange(seq_len)
    angles = positions[:, None] * 10_000.0 ** (-np.arange(32) / 32)
    tables = {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
    return {"weights": np.concatenate(parts), **tables}


def _norm(x, gain):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + _EPS) * gain


def _turned(heads, cos, sin):
    """Rotates (tokens, heads, 64) by the tables (tokens, 32)."""
    left, right = heads[..., :32], heads[..., 32:]
    cos, sin = cos[:, None], sin[:, None]
    return np.concatenate([left * cos - right * sin, left * sin + right * cos], axis=2)


def reference(x, weights, cos, sin, seq_len, output=None):
    x, weights, cos, sin = (array.astype(np.float64) for array in (x, weights, cos, sin))
    w, start, count = {}, 0, len(x)
    for name, shape, _ in _PARTS:
        size = int(np.prod(shape))
        w[name] = weights[start : start + size].reshape(shape)
        start += size
    normed = _norm(x, w["norm1"])
    q, k, v = ((normed @ w[name].T).reshape(count, -1, _HEAD) for name in "qkv")
    q, k = _turned(q, cos, sin), _turned(k, cos, sin)
    hidden = np.triu(np.ones((count, count), bool), 1)
    parts = []
    for head in range(_HEADS):
        shared = head // (_HEADS // _KEY_HEADS)
        scores = q[:, head] @ k[:, shared].T / 8.0
        scores[hidden] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        parts.append(scores @ v[:, shared] / scores.sum(axis=1, keepdims=True))
    x = x + np.concatenate(parts, axis=1) @ w["out"].T
    normed = _norm(x, w["norm2"])
    gate = normed @ w["gate"].T
    with np.errstate(over="ignore"):
        gate /= 1.0 + np.exp(-gate)
    return x + (gate * (normed @ w["up"].T)) @ w["down"].T
