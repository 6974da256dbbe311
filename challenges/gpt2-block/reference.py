"""A block of GPT-2 without a mask, in NumPy, in float64."""

import numpy as np

_WIDTH, _HEADS, _HIDDEN = 768, 12, 3072
_EPS = 1e-5
#: Name, shape and spread of the weights in the order in which they lie; norms spread around 1.
_PARTS = (
    ("norm1", (_WIDTH,), 0.2), ("norm1_bias", (_WIDTH,), 0.2),
    ("qkv", (_WIDTH, 3 * _WIDTH), 0.04), ("qkv_bias", (3 * _WIDTH,), 0.2),
    ("out", (_WIDTH, _WIDTH), 0.05), ("out_bias", (_WIDTH,), 0.2),
    ("norm2", (_WIDTH,), 0.2), ("norm2_bias", (_WIDTH,), 0.2),
    ("up", (_WIDTH, _HIDDEN), 0.04), ("up_bias", (_HIDDEN,), 0.2),
    ("down", (_HIDDEN, _WIDTH), 0.02), ("down_bias", (_WIDTH,), 0.2),
)  # fmt: skip


def make_inputs(rng, seq_len, repel):
    """All weights. ``repel`` pulls queries one way and keys the other, so that every score is far below zero."""
    parts = []
    for name, shape, spread in _PARTS:
        part = rng.standard_normal(int(np.prod(shape)), np.float32) * np.float32(spread)
        if name == "qkv_bias":
            part[:_WIDTH] += np.float32(repel)
            part[_WIDTH : 2 * _WIDTH] -= np.float32(repel)
        parts.append(part + np.float32(1) if name in ("norm1", "norm2") else part)
    return {"weights": np.concatenate(parts)}


def _norm(x, gain, bias):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + _EPS) * gain + bias


def _attend(qkv):
    width = _WIDTH // _HEADS
    parts = []
    for head in range(_HEADS):
        q, k, v = (qkv[:, part * _WIDTH + head * width :][:, :width] for part in range(3))
        scores = q @ k.T / np.sqrt(width)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        parts.append(scores @ v / scores.sum(axis=1, keepdims=True))
    return np.concatenate(parts, axis=1)


def reference(x, weights, seq_len, output=None):
    x, weights, w, start = x.astype(np.float64), weights.astype(np.float64), {}, 0
    for name, shape, _ in _PARTS:
        size = int(np.prod(shape))
        w[name] = weights[start : start + size].reshape(shape)
        start += size
    x = x + _attend(_norm(x, w["norm1"], w["norm1_bias"]) @ w["qkv"] + w["qkv_bias"]) @ w["out"] + w["out_bias"]
    hidden = _norm(x, w["norm2"], w["norm2_bias"]) @ w["up"] + w["up_bias"]
    hidden *= 0.5 * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (hidden + 0.044715 * hidden**3)))
    return x + hidden @ w["down"] + w["down_bias"]
