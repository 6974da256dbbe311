"""The transpose of a matrix in NumPy."""

import numpy as np

#: Elements compared at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 18


def reference(input, rows, cols):
    return input.T.astype(np.float64)


def spot_check(rng, inputs, outputs):
    """Every element, some columns of the input at a time."""
    matrix = inputs["input"][:]
    count, width = outputs["output"].shape
    step = max(1, _CHUNK // width)
    for start in range(0, count, step):
        rows = np.arange(start, min(start + step, count))
        yield {"output": (rows, matrix[:, start : start + step].T.astype(np.float64), None)}
