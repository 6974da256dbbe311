"""x / (1 + exp(-x)) in NumPy, in float64, where exp(100) is far from overflow."""

import numpy as np

#: Elements compared at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 16


def reference(input, N=None):
    values = input.astype(np.float64)
    return values / (1.0 + np.exp(-values))


def magnitude(input, N=None):
    # Far below zero the result is tiny; formulas that go through tanh are off there by a few u |x|, and are fine.
    return np.abs(input).astype(np.float64)


def spot_check(rng, inputs, outputs):
    """Every element, a chunk at a time."""
    size = int(inputs["N"])
    for start in range(0, size, _CHUNK):
        stop = min(start + _CHUNK, size)
        values = inputs["input"][start:stop]
        yield {"output": (np.arange(start, stop), reference(values), magnitude(values))}
