"""Many Jacobi steps in NumPy, in float64, in bands of rows that stay in a processor's cache."""

import numpy as np

#: Numbers in a band.
_CHUNK = 1 << 16
#: Up to so many numbers all rows are checked, else so many bands of rows.
_FEW = 1 << 18
_BANDS, _ROWS_OF_BAND = 24, 4


def reference(input, rows, cols, steps, output=None):
    return _all(input, int(steps), np.asarray)


def magnitude(input, rows, cols, steps, output=None):
    return _all(input, int(steps), np.abs)


def _all(grid, steps, prepare):
    result = np.empty(grid.shape)
    height = max(steps, _CHUNK // grid.shape[1])
    for start in range(0, len(grid), height):
        end = min(start + height, len(grid))
        result[start:end] = _band(grid, start, end, steps, prepare)
    return result


def _band(grid, start, end, steps, prepare):
    """Some rows of the result, from those rows and as many more to both sides as there are steps."""
    first, last = max(0, start - steps), min(len(grid), end + steps)
    here = prepare(grid[first:last]).astype(np.float64)
    if here.shape[1] > 2 and len(here) > 2:
        after = here.copy()
        for _ in range(steps):
            # Rows at a cut are wrong from then on, and one more to each side with every step: they are not asked for.
            sums = here[:-2, 1:-1] + here[2:, 1:-1]
            sums += here[1:-1, :-2]
            sums += here[1:-1, 2:]
            np.multiply(sums, 0.25, out=after[1:-1, 1:-1])
            here, after = after, here
    return here[start - first : end - first]


def spot_check(rng, inputs, outputs):
    """Bands of rows at random places, at the top and at the bottom; all rows of a small grid."""
    grid, steps = inputs["input"], int(inputs["steps"])
    count = len(grid)
    if grid.size <= _FEW:
        grid, starts, height = np.asarray(grid[:]), [0], count
    else:
        height = min(count, _ROWS_OF_BAND)
        starts = np.union1d(rng.integers(0, count - height + 1, _BANDS), [0, count - height])
    for start in starts:
        values, sizes = (_band(grid, start, start + height, steps, prepare) for prepare in (np.asarray, np.abs))
        yield {"output": (np.arange(start, start + height), values, sizes)}
