"""A sparse matrix in rows times a vector, in NumPy, in float64."""

import numpy as np

#: Elements multiplied at once, about: few enough to stay in a processor's cache.
_ELEMENTS = 1 << 18


def make_inputs(rng, M, N, nnz, skew):
    spread = nnz - int(skew * nnz)
    ends = np.sort(rng.integers(0, spread + 1, M - 1))
    offsets = np.concatenate([[0], ends, [spread]])
    offsets[int(rng.integers(0, M)) + 1 :] += nnz - spread
    return {"row_offsets": offsets.astype(np.int32), "columns": rng.integers(0, N, nnz, np.int32)}


def reference(row_offsets, columns, values, x, M, N, nnz, y=None):
    return _product(row_offsets, columns, values, x.astype(np.float64), np.asarray)


def magnitude(row_offsets, columns, values, x, M, N, nnz, y=None):
    return _product(row_offsets, columns, values, np.abs(x.astype(np.float64)), np.abs)


def _product(offsets, columns, values, x, prepare):
    result = np.zeros(len(offsets) - 1)
    step = max(1, _ELEMENTS * len(result) // max(1, values.size))
    for first in range(0, len(result), step):
        bounds = offsets[first : first + step + 1].astype(np.int64)
        products = prepare(values[bounds[0] : bounds[-1]]) * x[columns[bounds[0] : bounds[-1]]]
        # reduceat would give an empty row the element behind it.
        filled = np.flatnonzero(bounds[:-1] < bounds[1:])
        if filled.size:
            result[first + filled] = np.add.reduceat(products, bounds[filled] - bounds[0])
    return result
