"""Latent attention of one token of each sequence in NumPy, in float64, sequence by sequence."""

import numpy as np


def _sequence(q_latent, q_rope, latents, ropes, scale):
    """(outputs, magnitudes) of all heads of a sequence."""
    q_latent, q_rope, latents, ropes = (part.astype(np.float64) for part in (q_latent, q_rope, latents, ropes))
    scores = (q_latent @ latents.T + q_rope @ ropes.T) * scale
    latent_sizes = np.abs(latents)
    sizes = (np.abs(q_latent) @ latent_sizes.T + np.abs(q_rope) @ np.abs(ropes).T) * scale
    distance = scores.max(axis=1, keepdims=True) - scores
    weights = np.exp(-distance)
    weights /= weights.sum(axis=1, keepdims=True)
    outputs = weights @ latents
    # A score is off by about u times the sum of its absolute products, or by u sqrt(d) / 4 times itself where one
    # accumulator adds d products of one sign; its exponential by u (distance + 3) besides. That is the relative error
    # of a weight, and its average that of the denominator.
    length = q_latent.shape[1] + q_rope.shape[1]
    doubts = weights * (6.0 + distance + np.maximum(sizes, 0.25 * np.sqrt(length) * np.abs(scores)))
    return outputs, doubts @ latent_sizes + doubts.sum(axis=1, keepdims=True) * np.abs(outputs)


def _all(q_latent, q_rope, kv_latent, k_rope, batch, num_heads, seq_len, scale):
    outputs, magnitudes = np.empty((2, *q_latent.shape))
    for s in range(int(batch)):
        heads = slice(s * int(num_heads), (s + 1) * int(num_heads))
        positions = slice(s * int(seq_len), (s + 1) * int(seq_len))
        parts = (q_latent[heads], q_rope[heads], kv_latent[positions], k_rope[positions])
        outputs[heads], magnitudes[heads] = _sequence(*parts, float(scale))
    return outputs, magnitudes


def reference(q_latent, q_rope, kv_latent, k_rope, batch, num_heads, seq_len, latent_dim, rope_dim, scale):
    return _all(q_latent, q_rope, kv_latent, k_rope, batch, num_heads, seq_len, scale)[0]


def magnitude(q_latent, q_rope, kv_latent, k_rope, batch, num_heads, seq_len, latent_dim, rope_dim, scale):
    return _all(q_latent, q_rope, kv_latent, k_rope, batch, num_heads, seq_len, scale)[1]


def spot_check(rng, inputs, outputs):
    """Everything; values and magnitudes come from one pass over the cache."""
    names = ("q_latent", "q_rope", "kv_latent", "k_rope", "batch", "num_heads", "seq_len", "scale")
    values, magnitudes = _all(*(inputs[name] for name in names))
    return {"output": (np.arange(len(values)), values, magnitudes)}
