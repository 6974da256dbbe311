"""A matrix with many zeros times a vector in NumPy, in float64, and how such a matrix is made."""

import numpy as np

#: Elements multiplied at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 18
_LEAST, _MOST = 0.5, 10.0
#: Different numbers that stand in a matrix: few enough to stay in a processor's cache.
_NUMBERS = 1 << 18


def make_inputs(rng, M, N, nnz, gathered):
    """Exactly ``nnz`` elements that are not zero, as evenly spread over the rows as can be.

    Each row takes a stretch of one long list of numbers, and one of two patterns of zeros, moved on by a random
    distance: to draw every row anew would take many times as long. With ``gathered``, some rows are filled instead.
    """
    if gathered:
        return {"A": _gathered(rng, int(M), int(N), int(nnz))}
    numbers = rng.random(_NUMBERS + N, dtype=np.float32)
    numbers -= np.float32(0.5)
    numbers *= np.float32(2 * (_MOST - _LEAST))
    numbers += np.copysign(np.float32(_LEAST), numbers)
    in_all, more = divmod(int(nnz), int(M))
    patterns = [np.tile(rng.permutation(N) < count, 2).astype(np.float32) for count in (in_all, in_all + 1)]
    has_more = rng.permutation(M) < more
    matrix = np.empty((M, N), np.float32)
    for row, (start, shift) in enumerate(rng.integers(0, (_NUMBERS, N), (M, 2))):
        np.multiply(numbers[start : start + N], patterns[int(has_more[row])][shift : shift + N], out=matrix[row])
    return {"A": matrix}


def _gathered(rng, rows, columns, count):
    matrix = np.zeros((rows, columns), np.float32)
    full, rest = divmod(count, columns)
    # The last row is among them, so that the end of the product is not empty.
    order = np.append(rows - 1, rng.permutation(rows - 1))
    places = [np.arange(columns)] * full + [rng.permutation(columns)[:rest]]
    for row, some in zip(order, places, strict=False):
        matrix[row, some] = rng.uniform(_LEAST, _MOST, len(some)) * rng.choice([-1, 1], len(some))
    return matrix


def reference(A, x, M, N, nnz):
    return A.astype(np.float64) @ x.astype(np.float64)


def magnitude(A, x, M, N, nnz):
    return np.abs(A).astype(np.float64) @ np.abs(x).astype(np.float64)


def spot_check(rng, inputs, outputs):
    """Every row, some at a time."""
    count = len(outputs["y"])
    vector = inputs["x"].astype(np.float64)
    step = max(1, _CHUNK // vector.size)
    for start in range(0, count, step):
        part = inputs["A"][start : start + step].astype(np.float64)
        values = part @ vector
        yield {"y": (np.arange(start, start + len(part)), values, np.abs(part) @ np.abs(vector))}
