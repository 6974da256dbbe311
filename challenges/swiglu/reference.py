"""SiLU of the first half times the second half, in NumPy, in float64."""

import numpy as np

#: Elements compared at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 16


def reference(input, N=None):
    return _gated(*np.split(input, 2))


def magnitude(input, N=None):
    return _scale(*np.split(input, 2))


def _gated(gates, values):
    gates = gates.astype(np.float64)
    return gates / (1.0 + np.exp(-gates)) * values


def _scale(gates, values):
    # As for SiLU alone: a few u |gate|, also where its sigmoid is tiny.
    return np.abs(gates.astype(np.float64) * values)


def spot_check(rng, inputs, outputs):
    """Every element, a chunk at a time."""
    half = int(inputs["N"]) // 2
    for start in range(0, half, _CHUNK):
        stop = min(start + _CHUNK, half)
        gates, values = inputs["input"][start:stop], inputs["input"][half + start : half + stop]
        yield {"output": (np.arange(start, stop), _gated(gates, values), _scale(gates, values))}
