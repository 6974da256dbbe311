"""A sparse matrix in rows times a dense one, in NumPy, in float64."""

import numpy as np

_RANDOM_ROWS = 64
_SUSPICIOUS_ROWS = 24


def make_inputs(rng, M, N, K, nnz, skew):
    spread = nnz - int(skew * nnz)
    ends = np.sort(rng.integers(0, spread + 1, M - 1))
    offsets = np.concatenate([[0], ends, [spread]])
    offsets[int(rng.integers(0, M)) + 1 :] += nnz - spread
    return {"row_offsets": offsets.astype(np.int32), "columns": rng.integers(0, N, nnz, np.int32)}


def reference(row_offsets, columns, values, B, M, N, K, nnz, C=None):
    return _rows(np.arange(int(M)), row_offsets, columns, values, B, np.asarray)


def magnitude(row_offsets, columns, values, B, M, N, K, nnz, C=None):
    return _rows(np.arange(int(M)), row_offsets, columns, values, B, np.abs)


def _rows(rows, offsets, columns, values, B, prepare):
    result = np.zeros((len(rows), B.shape[1]))
    for place, row in enumerate(rows):
        part = slice(int(offsets[row]), int(offsets[row + 1]))
        dense = prepare(B[columns[part]]).astype(np.float64)
        result[place] = prepare(values[part]).astype(np.float64) @ dense
    return result


def spot_check(rng, inputs, outputs):
    """Random rows, and those where the output times random signs is furthest from A times B times them (Freivalds)."""
    offsets, columns = np.asarray(inputs["row_offsets"]), np.asarray(inputs["columns"])
    values, B, C = np.asarray(inputs["values"]), np.asarray(inputs["B"]), np.asarray(outputs["C"])
    if len(C) <= _RANDOM_ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(len(C))
    else:
        suspicious = _suspicious(rng, offsets, columns, values, B, C)
        rows = np.union1d(rng.choice(len(C), _RANDOM_ROWS, replace=False), suspicious)
    parts = (_rows(rows, offsets, columns, values, B, prepare) for prepare in (np.asarray, np.abs))
    return {"C": (rows, *parts)}


def _suspicious(rng, offsets, columns, values, B, C):
    signs = rng.choice(np.array([-1.0, 1.0], np.float32), C.shape[1])
    products = values * (B @ signs)[columns]
    # One more zero, for rows that begin behind the last element; reduceat gives an empty row the element behind it.
    expected = np.add.reduceat(np.append(products, np.float32(0)), offsets[:-1])
    expected[offsets[:-1] == offsets[1:]] = 0
    distance = np.abs(C @ signs - expected)
    # What is no number is the most suspicious of all; NumPy sorts NaN last.
    return np.argsort(distance)[-_SUSPICIOUS_ROWS:]
