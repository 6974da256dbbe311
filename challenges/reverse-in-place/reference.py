"""A vector in reverse order, in NumPy."""

import numpy as np

#: Elements compared at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def reference(input, N):
    return input[::-1].astype(np.float64)


def spot_check(rng, inputs, outputs):
    """Every element, a chunk at a time."""
    size = int(inputs["N"])
    for start in range(0, size, _CHUNK):
        stop = min(start + _CHUNK, size)
        values = inputs["input"][size - stop : size - start][::-1].astype(np.float64)
        yield {"input": (np.arange(start, stop), values, None)}
