"""Attention of one token over an 8-bit cache in NumPy, in float64, head by head."""

import numpy as np

#: Positions at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 12
#: Of larger outputs, the check of a timed call looks at so many heads.
_FEW = 1 << 12
_HEADS = 6


def _head(q, keys, values, k_scale, v_scale):
    """(outputs, magnitudes) of one head."""
    q = q.astype(np.float64) / np.sqrt(len(q))
    scores, sizes = np.empty(len(keys)), np.empty(len(keys))
    for start in range(0, len(keys), _CHUNK):
        rows = slice(start, start + _CHUNK)
        part = keys[rows].astype(np.float64)
        scores[rows] = part @ q
        sizes[rows] = np.abs(part) @ np.abs(q)
    scores *= k_scale
    sizes *= k_scale
    distance = scores.max() - scores
    weights = np.exp(-distance)
    weights /= weights.sum()
    # A score is off by about u times the sum of its absolute products, or by u sqrt(d) / 4 times itself where one
    # accumulator adds d products of one sign; its exponential by u (distance + 3) besides. That is the relative error
    # of a weight, and its average that of the denominator.
    doubts = weights * (8.0 + distance + np.maximum(sizes, 0.25 * np.sqrt(len(q)) * np.abs(scores)))
    outputs, doubt = np.zeros(len(q)), np.zeros(len(q))
    for start in range(0, len(keys), _CHUNK):
        rows = slice(start, start + _CHUNK)
        part = values[rows].astype(np.float64)
        outputs += (weights[rows] * v_scale[rows]) @ part
        doubt += (doubts[rows] * v_scale[rows]) @ np.abs(part)
    return outputs, doubt + doubts.sum() * np.abs(outputs)


def _all(Q, K_int8, V_int8, k_scale, v_scale, heads=None):
    """(outputs, magnitudes) of the heads that are asked for, or of all."""
    length = k_scale.shape[1]
    parts = []
    for head in range(len(Q)) if heads is None else heads:
        rows = slice(head * length, (head + 1) * length)
        scales = (scale[head].astype(np.float64) for scale in (k_scale, v_scale))
        parts.append(_head(Q[head], K_int8[rows], V_int8[rows], *scales))
    return tuple(np.array(part) for part in zip(*parts, strict=True))


def reference(Q, K_int8, V_int8, k_scale, v_scale, num_heads, seq_len, head_dim):
    return _all(Q, K_int8, V_int8, k_scale, v_scale)[0]


def magnitude(Q, K_int8, V_int8, k_scale, v_scale, num_heads, seq_len, head_dim):
    return _all(Q, K_int8, V_int8, k_scale, v_scale)[1]


def spot_check(rng, inputs, outputs):
    """Random heads, with the first and the last; values and magnitudes come from one pass over their caches."""
    heads = np.arange(len(outputs["output"]))
    if outputs["output"].size > _FEW:
        heads = np.union1d(rng.choice(len(heads), min(len(heads), _HEADS), replace=False), heads[[0, -1]])
    names = ("Q", "K_int8", "V_int8", "k_scale", "v_scale")
    return {"output": (heads, *_all(*(inputs[name] for name in names), heads))}
