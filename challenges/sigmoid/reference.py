"""1 / (1 + exp(-x)) in NumPy, in float64."""

import numpy as np

#: Elements compared at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 16
#: exp(700) is still a float64, and the sigmoid of -700 far below what single precision can hold.
_LEAST = -700.0


def reference(X, N=None):
    return 1.0 / (1.0 + np.exp(-np.maximum(X.astype(np.float64), _LEAST)))


def magnitude(X, N=None):
    # Absolute, not relative: formulas that go through tanh lose the small values far below zero, and are fine.
    return np.ones(X.shape)


def spot_check(rng, inputs, outputs):
    """Every element, a chunk at a time."""
    size = int(inputs["N"])
    for start in range(0, size, _CHUNK):
        stop = min(start + _CHUNK, size)
        values = inputs["X"][start:stop]
        yield {"Y": (np.arange(start, stop), reference(values), magnitude(values))}
