"""Dequantisation by square tiles in NumPy, in float64, some rows at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def _rows(x, scales, start, tile):
    of_rows = scales[np.arange(start, start + len(x)) // tile].astype(np.float64)
    return x * np.repeat(of_rows, tile, axis=1)[:, : x.shape[1]]


def reference(X, S, M, N, TILE_SIZE):
    return _rows(X, S, 0, int(TILE_SIZE))


def spot_check(rng, inputs, outputs):
    """Everything, in chunks of rows."""
    X, S, tile = inputs["X"], inputs["S"].astype(np.float64), int(inputs["TILE_SIZE"])
    count, width = X.shape
    step = max(1, _CHUNK // width)
    for start in range(0, count, step):
        stop = min(start + step, count)
        yield {"Y": (np.arange(start, stop), _rows(X[start:stop], S, start, tile), None)}
