"""Attention of one token of each sequence over blocks of a cache in NumPy, in float64, sequence by sequence."""

import numpy as np

#: Positions at a time: few enough to stay in a processor's cache, and for products that need no second thread.
_CHUNK = 256


def make_inputs(rng, num_seqs, max_blocks, block_size, **_):
    count, capacity = int(num_seqs), int(max_blocks * block_size)
    # One length in each of as many stretches, so that what has to be read hardly depends on the seed.
    lengths = 1 + ((rng.permutation(count) + rng.random(count)) * (capacity / count)).astype(np.int64)
    lengths = np.minimum(lengths, capacity)
    table = rng.permutation(count * int(max_blocks)).reshape(count, -1)
    table[np.arange(int(max_blocks)) * int(block_size) >= lengths[:, None]] = -1
    return {"block_table": table.astype(np.int32), "lengths": lengths.astype(np.int32)}


def _heads(q, keys, values):
    """(outputs, magnitudes) of the heads that share keys and values; single precision does for magnitudes."""
    q = q.astype(np.float64) / np.sqrt(q.shape[1])
    q_sizes = np.abs(q).astype(np.float32)
    scores, sizes = np.empty((len(q), len(keys))), np.empty((len(q), len(keys)), np.float32)
    for start in range(0, len(keys), _CHUNK):
        part = slice(start, start + _CHUNK)
        scores[:, part] = q @ keys[part].astype(np.float64).T
        sizes[:, part] = q_sizes @ np.abs(keys[part]).astype(np.float32).T
    distance = scores.max(axis=1, keepdims=True) - scores
    weights = np.exp(-distance)
    weights /= weights.sum(axis=1, keepdims=True)
    # A score is off by about u times the sum of its absolute products, or by u sqrt(d) / 4 times itself where one
    # accumulator adds d products of one sign; its exponential by u (distance + 3) besides. That is the relative error
    # of a weight, and its average that of the denominator.
    doubts = weights * (6.0 + distance + np.maximum(sizes, 0.25 * np.sqrt(q.shape[1]) * np.abs(scores)))
    of_denominator = doubts.sum(axis=1, keepdims=True)
    doubts = doubts.astype(np.float32)
    outputs, magnitudes = np.zeros((2, *q.shape))
    for start in range(0, len(keys), _CHUNK):
        part = slice(start, start + _CHUNK)
        outputs += weights[:, part] @ values[part].astype(np.float64)
        magnitudes += doubts[:, part] @ np.abs(values[part]).astype(np.float32)
    return outputs, magnitudes + of_denominator * np.abs(outputs)


def _all(Q, K_cache, V_cache, block_table, lengths):
    block_size, kv_heads = K_cache.shape[1:3]
    outputs, magnitudes = np.empty(Q.shape), np.empty(Q.shape)
    for s, length in enumerate(lengths):
        blocks = block_table[s, : -(-int(length) // block_size)]
        keys, values = (cache[blocks].reshape(-1, *cache.shape[2:])[:length] for cache in (K_cache, V_cache))
        for kv, heads in enumerate(np.split(np.arange(Q.shape[1]), kv_heads)):
            outputs[s, heads], magnitudes[s, heads] = _heads(Q[s, heads], keys[:, kv], values[:, kv])
    return outputs, magnitudes


def reference(Q, K_cache, V_cache, block_table, lengths, **_):
    return _all(Q, K_cache, V_cache, block_table, lengths)[0]


def magnitude(Q, K_cache, V_cache, block_table, lengths, **_):
    return _all(Q, K_cache, V_cache, block_table, lengths)[1]


def spot_check(rng, inputs, outputs):
    """Everything; only blocks that belong to a sequence are made."""
    Q, table, lengths = (np.asarray(inputs[name][:]) for name in ("Q", "block_table", "lengths"))
    return {"output": (np.arange(len(Q)), *_all(Q, inputs["K_cache"], inputs["V_cache"], table, lengths))}
