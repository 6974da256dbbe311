"""A step of the heat equation in NumPy, in float64, layer by layer."""

import numpy as np

#: Of a grid of more numbers, the check of a timed call looks at this many layers.
_FEW = 1 << 20
_LAYERS = 32


def reference(input, rate, depth, rows, cols, output=None):
    rate = float(rate)
    return _step(input, rate, 1.0 - 6.0 * rate, np.asarray)


def magnitude(input, rate, depth, rows, cols, output=None):
    # One minus six times the rate may be computed either way, and loses what the six times the rate were rounded by.
    rate = float(rate)
    return _step(input, rate, 1.0 + 6.0 * rate, np.abs)


def _step(grid, rate, own, prepare):
    result = np.empty(grid.shape)
    for layer in range(len(grid)):
        result[layer] = prepare(grid[layer])
        if min(grid.shape) < 3 or layer in (0, len(grid) - 1):
            continue
        below, here, above = (prepare(grid[z]).astype(np.float64) for z in (layer - 1, layer, layer + 1))
        sums = below[1:-1, 1:-1] + above[1:-1, 1:-1]
        sums += here[:-2, 1:-1]
        sums += here[2:, 1:-1]
        sums += here[1:-1, :-2]
        sums += here[1:-1, 2:]
        sums *= rate
        sums += own * here[1:-1, 1:-1]
        result[layer, 1:-1, 1:-1] = sums
    return result


def spot_check(rng, inputs, outputs):
    """Random layers, with the first two and the last two; all layers of a small grid."""
    grid, rate = inputs["input"], float(inputs["rate"])
    count = len(grid)
    layers = np.arange(count)
    if grid.size > _FEW:
        layers = np.union1d(rng.integers(0, count, _LAYERS), np.unique(np.clip([0, 1, count - 2, count - 1], 0, count)))
    for layer in layers:
        first = max(0, layer - 1)
        part = grid[first : layer + 2]
        if min(grid.shape) < 3 or layer in (0, count - 1):
            here = part[layer - first].astype(np.float64)
            values, sizes = here, np.abs(here)
        else:
            values = _step(part, rate, 1.0 - 6.0 * rate, np.asarray)[1]
            sizes = _step(part, rate, 1.0 + 6.0 * rate, np.abs)[1]
        yield {"output": (np.array([layer]), values[None], sizes[None])}
