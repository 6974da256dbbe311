"""Retention in NumPy, in float64, a chunk of positions after the other."""

import numpy as np

_CHUNK = 256


def _chunks(Q, K, V, gamma):
    """Yields (positions, outputs) chunk by chunk; what came before a chunk is kept in one square matrix."""
    state = np.zeros((Q.shape[1], Q.shape[1]))
    for start in range(0, len(Q), _CHUNK):
        rows = np.arange(start, min(start + _CHUNK, len(Q)))
        q, k, v = (array[rows[0] : rows[-1] + 1].astype(np.float64) for array in (Q, K, V))
        place = np.arange(len(rows))
        steps = place[:, None] - place
        scores = q @ k.T * np.where(steps >= 0, gamma ** np.maximum(steps, 0), 0.0)
        outputs = scores @ v + (q * gamma ** (place[:, None] + 1.0)) @ state
        state = gamma ** len(rows) * state + (k * gamma ** (len(rows) - 1.0 - place[:, None])).T @ v
        yield rows, outputs / np.sqrt(Q.shape[1])


def reference(Q, K, V, seq_len, d_model, gamma):
    return np.concatenate([outputs for _, outputs in _chunks(Q, K, V, np.float64(gamma))])


def magnitude(Q, K, V, seq_len, d_model, gamma):
    return np.concatenate([size for _, size in _chunks(np.abs(Q), np.abs(K), np.abs(V), np.float64(gamma))])


def spot_check(rng, inputs, outputs):
    """Everything, chunk by chunk."""
    arrays, gamma = [np.asarray(inputs[name][:]) for name in ("Q", "K", "V")], np.float64(inputs["gamma"])
    absolute = [np.abs(array) for array in arrays]
    for (rows, values), (_, sizes) in zip(_chunks(*arrays, gamma), _chunks(*absolute, gamma), strict=True):
        yield {"output": (rows, values, sizes)}
