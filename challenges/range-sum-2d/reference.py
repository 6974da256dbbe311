"""The sum of a rectangle of a matrix of integers, in NumPy."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

#: Rows added up at once: few enough to stay in a processor's cache.
_ROWS = 64
_THREADS = 8


def reference(input, N, M, S_ROW, E_ROW, S_COL, E_COL):
    rectangle = input[int(S_ROW) : int(E_ROW) + 1, int(S_COL) : int(E_COL) + 1]
    return np.array([rectangle.sum(dtype=np.int64)])


def spot_check(rng, inputs, outputs):
    """The whole sum, some rows at a time, on several threads."""
    matrix = inputs["input"]
    begin, end, left, right = (int(inputs[name]) for name in ("S_ROW", "E_ROW", "S_COL", "E_COL"))

    def sums(first):
        """Of every so many-th group of rows, as there are threads: each goes through its own."""
        total = 0
        for start in range(begin + first, end + 1, _THREADS * _ROWS):
            rows = matrix[start : min(start + _ROWS, end + 1)]
            total += int(rows[:, left : right + 1].sum(dtype=np.int64))
        return total

    with ThreadPoolExecutor(_THREADS) as pool:
        total = sum(pool.map(sums, range(0, min(end + 1 - begin, _THREADS * _ROWS), _ROWS)))
    return {"output": (np.array([0]), np.array([total], np.int64), None)}
