"""A selective scan in NumPy, in float64, step by step."""

import numpy as np

#: Where there are more channels, the check of a timed call looks at so many of them.
_FEW = 256
_CHANNELS = 64
#: Channels of all sequences scanned at once: a step then works on some ten thousand numbers.
_NUMBERS = 1 << 14


def _scan(u, delta, A, B, C, skip):
    """(outputs, magnitudes), batch x length x channels, of arrays in float64."""
    batch, length, _ = u.shape
    state, size = np.zeros((batch, *A.shape)), np.zeros((batch, *A.shape))
    outputs, doubt = np.empty(u.shape), np.empty(u.shape)
    for t in range(length):
        exponent = delta[:, t, :, None] * A
        decay = np.exp(exponent)
        push = (delta[:, t] * u[:, t])[:, :, None] * B[:, t, None]
        # Each step rounds the state and the decay, and an exponential of x is off by about u (|x| + 3); what was
        # lost before decays with the state.
        size = decay * size + np.abs(push) + decay * (1.0 - exponent) * np.abs(state) * 0.5
        state = decay * state + push
        outputs[:, t] = (state @ C[:, t, :, None])[..., 0] + skip * u[:, t]
        doubt[:, t] = (size @ np.abs(C[:, t, :, None]))[..., 0] + np.abs(skip * u[:, t])
    return outputs, doubt


def _channels(u, delta, A, B, C, skip, length, channels):
    """Yields (channels, outputs, magnitudes) of all sequences, some channels after the other."""
    batch = len(u) // length
    B, C = (array.reshape(batch, length, -1).astype(np.float64) for array in (B, C))
    width = max(1, _NUMBERS // (batch * A.shape[1]))
    for start in range(0, len(channels), width):
        picked = channels[start : start + width]
        ours, theirs = (x[:, picked].reshape(batch, length, -1).astype(np.float64) for x in (u, delta))
        parts = _scan(ours, theirs, A[picked].astype(np.float64), B, C, skip[picked].astype(np.float64))
        yield (picked, *(part.reshape(len(u), -1) for part in parts))


def _everything(u, delta, A, B, C, skip, length):
    """(outputs, magnitudes) of all channels."""
    parts = list(_channels(u, delta, A, B, C, skip, int(length), np.arange(len(A))))
    return tuple(np.concatenate([part[i] for part in parts], axis=1) for i in (1, 2))


def reference(u, delta, A, B, C, skip, batch, seq_len, d_model, d_state):
    return _everything(u, delta, A, B, C, skip, seq_len)[0]


def magnitude(u, delta, A, B, C, skip, batch, seq_len, d_model, d_state):
    return _everything(u, delta, A, B, C, skip, seq_len)[1]


def spot_check(rng, inputs, outputs):
    """Random channels of all sequences, the first and the last; all where there are few."""
    arrays = [np.asarray(inputs[name][:]) for name in ("u", "delta", "A", "B", "C", "skip")]
    channels = np.arange(len(arrays[2]))
    if len(channels) > _FEW:
        random = rng.choice(len(channels), _CHANNELS, replace=False)
        channels = np.union1d(random, channels[[0, -1]])
    for picked, values, sizes in _channels(*arrays, int(inputs["seq_len"]), channels):
        yield {"y": (np.ix_(np.arange(len(values)), picked), values, sizes)}
