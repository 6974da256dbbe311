"""A step of the heat equation in NumPy, in float64, layer by layer."""

import numpy as np


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
