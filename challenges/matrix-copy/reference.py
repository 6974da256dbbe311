"""A copy of a matrix."""

import numpy as np

#: Elements compared at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def reference(A, N):
    return A.astype(np.float64)


def spot_check(rng, inputs, outputs):
    """Every element, some rows at a time."""
    count = len(outputs["B"])
    step = max(1, _CHUNK // count)
    for start in range(0, count, step):
        rows = np.arange(start, min(start + step, count))
        yield {"B": (rows, inputs["A"][start : start + len(rows)].astype(np.float64), None)}
