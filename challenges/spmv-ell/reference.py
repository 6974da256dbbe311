"""A sparse matrix in ELL form times a vector, in NumPy, in float64."""

import numpy as np

#: Rows multiplied at once: few enough to stay in a processor's cache.
_ROWS = 1 << 15


def make_inputs(rng, M, N, width, filled):
    columns = rng.integers(0, N, (width, M), np.int32)
    for place in columns:
        place[rng.random(M, np.float32) >= filled] = -1
    # The smallest matrix would be empty now and then.
    columns[0, 0] = 0
    return {"columns": columns}


def reference(columns, values, x, M, N, width, y=None):
    return _product(columns, values, x.astype(np.float64), np.asarray)


def magnitude(columns, values, x, M, N, width, y=None):
    return _product(columns, values, np.abs(x.astype(np.float64)), np.abs)


def _product(columns, values, x, prepare):
    # One more number, zero, is what the column -1 finds.
    x = np.append(x, 0.0)
    result = np.empty(columns.shape[1])
    for start in range(0, result.size, _ROWS):
        part = slice(start, start + _ROWS)
        result[part] = (prepare(values[:, part]) * x[columns[:, part]]).sum(axis=0)
    return result
