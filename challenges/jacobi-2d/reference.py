"""One Jacobi step in NumPy, in float64."""

import numpy as np

#: Rows computed at once: few enough to stay in a processor's cache.
_ROWS = 32
#: Of a grid of more numbers, the check of a timed call looks at this many bands of rows.
_FEW = 1 << 20
_BANDS, _ROWS_OF_BAND = 64, 4


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


def spot_check(rng, inputs, outputs):
    """Bands of rows at random places, at the top and at the bottom; all rows of a small grid."""
    grid = inputs["input"]
    count = len(grid)
    height = count if grid.size <= _FEW else min(count, _ROWS_OF_BAND)
    for start in np.union1d(rng.integers(0, count - height + 1, _BANDS), [0, count - height]):
        # With a row more to each side, which only the rows of the band are computed from.
        first = max(0, start - 1)
        part = grid[first : min(count, start + height + 1)]
        asked = slice(start - first, start - first + height)
        values, sizes = (_step(part, prepare)[asked] for prepare in (np.asarray, np.abs))
        yield {"output": (np.arange(start, start + height), values, sizes)}
