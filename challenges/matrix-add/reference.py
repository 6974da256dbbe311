"""The sum of two square matrices in NumPy, in float64."""

import numpy as np

#: Elements compared at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def reference(A, B, N=None):
    return A.astype(np.float64) + B


def spot_check(rng, inputs, outputs):
    """Every element, some rows at a time."""
    count = len(outputs["C"])
    step = max(1, _CHUNK // count)
    for start in range(0, count, step):
        rows = np.arange(start, min(start + step, count))
        stop = start + len(rows)
        yield {"C": (rows, reference(inputs["A"][start:stop], inputs["B"][start:stop]), None)}
