"""One Jacobi step in NumPy, in float64."""

import numpy as np

#: Rows computed at once: few enough to stay in a processor's cache.
_ROWS = 32


def reference(input, rows, cols, output=None):
    return _step(input, np.asarray)


def magnitude(input, rows, cols, output=None):
    return _step(input, np.abs)


def _step(grid, prepare):
    result = np.empty(grid.shape)
    result[[0, -1]] = prepare(grid[[0, -1]])
    for start in range(1, len(grid) - 1, _ROWS):
        stop = min(start + _ROWS, len(grid) - 1)
        part = prepare(grid[start - 1 : stop + 1]).astype(np.float64)
        inner = result[start:stop]
        inner[:] = part[1:-1]
        if part.shape[1] > 2:
            sums = part[:-2, 1:-1] + part[2:, 1:-1]
            sums += part[1:-1, :-2]
            sums += part[1:-1, 2:]
            np.multiply(sums, 0.25, out=inner[:, 1:-1])
    return result
