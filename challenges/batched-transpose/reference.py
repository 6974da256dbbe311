"""Transposes of many matrices in NumPy."""

import numpy as np

#: Columns of a matrix at a time: their transposes are rows side by side.
_STEP = 64


def reference(input, batch, rows, cols):
    matrices = input.reshape(int(batch), int(rows), int(cols))
    return matrices.swapaxes(1, 2).astype(np.float64).reshape(-1, int(rows))


def spot_check(rng, inputs, outputs):
    """Everything, some columns of a matrix at a time."""
    rows, cols = int(inputs["rows"]), int(inputs["cols"])
    for matrix in range(int(inputs["batch"])):
        part = inputs["input"][matrix * rows : (matrix + 1) * rows]
        for first in range(0, cols, _STEP):
            columns = np.arange(first, min(first + _STEP, cols))
            values = np.ascontiguousarray(part[:, columns].T).astype(np.float64)
            yield {"output": (matrix * cols + columns, values, None)}
