"""The largest sum of consecutive elements, as many as given, in NumPy, in int64."""

import numpy as np

#: Window sums made at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 18


def reference(input, N, window_size):
    return np.array([_sums(input, int(window_size)).max()])


def _sums(values, length):
    """The sums of all windows that lie in ``values``."""
    running = np.cumsum(values, dtype=np.int64)
    sums = running[length - 1 :].copy()
    sums[1:] -= running[:-length]
    return sums


def spot_check(rng, inputs, outputs):
    """The largest of all sums, a chunk of windows at a time."""
    values, length = inputs["input"], int(inputs["window_size"])
    count = values.size - length + 1
    # Each chunk needs the elements of its last window as well: long windows want long chunks.
    step = max(_CHUNK, length)
    largest = max(
        _sums(values[start : min(start + step, count) + length - 1], length).max() for start in range(0, count, step)
    )
    return {"output": (np.array([0]), np.array([largest]), None)}
