"""Attention of one token over a 4-bit cache in NumPy, in float64, head by head."""

import numpy as np

#: Positions at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 11
#: Up to so many heads all are checked, else so many random ones.
_HEADS = 8


def _unpacked(packed, scale, least):
    """(values, what they are made of: the sum of both absolute terms)."""
    values = np.empty((len(packed), 2 * packed.shape[1]))
    values[:, 0::2] = packed & 15
    values[:, 1::2] = packed >> 4
    groups = values.reshape(len(packed), scale.shape[1], -1)
    groups *= scale.astype(np.float64)[:, :, None]
    least = least.astype(np.float64)[:, :, None]
    return (groups + least).reshape(values.shape), (np.abs(groups) + np.abs(least)).reshape(values.shape)


def _head(q, keys, values):
    """(outputs, magnitudes) of one head. ``keys`` and ``values`` are each packed numbers, scales and minima."""
    q = q.astype(np.float64) / np.sqrt(len(q))
    length = len(keys[0])
    scores, sizes = np.empty(length), np.empty(length)
    for start in range(0, length, _CHUNK):
        rows = slice(start, start + _CHUNK)
        part, size = _unpacked(*(array[rows] for array in keys))
        scores[rows] = part @ q
        sizes[rows] = size @ np.abs(q)
    distance = scores.max() - scores
    weights = np.exp(-distance)
    weights /= weights.sum()
    # A score is off by about u times the sum of its absolute products, or by u sqrt(d) / 4 times itself where one
    # accumulator adds d products of one sign; its exponential by u (distance + 3) besides. That is the relative error
    # of a weight, and its average that of the denominator.
    doubts = weights * (8.0 + distance + np.maximum(sizes, 0.25 * np.sqrt(len(q)) * np.abs(scores)))
    outputs, doubt = np.zeros(len(q)), np.zeros(len(q))
    for start in range(0, length, _CHUNK):
        rows = slice(start, start + _CHUNK)
        part, size = _unpacked(*(array[rows] for array in values))
        outputs += weights[rows] @ part
        doubt += doubts[rows] @ size
    return outputs, doubt + doubts.sum() * np.abs(outputs)


def _heads(chosen, Q, K4, V4, k_scale, k_min, v_scale, v_min):
    length = len(K4) // len(Q)
    parts = []
    for head in chosen:
        rows = slice(head * length, (head + 1) * length)
        keys, values = ([a[rows] for a in arrays] for arrays in ((K4, k_scale, k_min), (V4, v_scale, v_min)))
        parts.append(_head(Q[head], keys, values))
    return tuple(np.array(part) for part in zip(*parts, strict=True))


def reference(Q, K4, V4, k_scale, k_min, v_scale, v_min, num_heads, seq_len, head_dim, group):
    return _heads(range(len(Q)), Q, K4, V4, k_scale, k_min, v_scale, v_min)[0]


def magnitude(Q, K4, V4, k_scale, k_min, v_scale, v_min, num_heads, seq_len, head_dim, group):
    return _heads(range(len(Q)), Q, K4, V4, k_scale, k_min, v_scale, v_min)[1]


def spot_check(rng, inputs, outputs):
    """Random heads, all where there are few; values and magnitudes come from one pass over their caches."""
    count = len(outputs["output"])
    heads = np.sort(rng.choice(count, min(count, _HEADS), replace=False))
    names = ("Q", "K4", "V4", "k_scale", "k_min", "v_scale", "v_min")
    return {"output": (heads, *_heads(heads, *(inputs[name] for name in names)))}
