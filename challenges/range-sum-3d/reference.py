"""The sum of a box of a three-dimensional array of integers, in NumPy."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

_THREADS = 8


def reference(input, N, M, K, S_DEP, E_DEP, S_ROW, E_ROW, S_COL, E_COL):
    box = input[int(S_DEP) : int(E_DEP) + 1, int(S_ROW) : int(E_ROW) + 1, int(S_COL) : int(E_COL) + 1]
    return np.array([box.sum(dtype=np.int64)])


def spot_check(rng, inputs, outputs):
    """The whole sum, a layer at a time, on several threads."""
    volume = inputs["input"]
    top, bottom, left, right = (int(inputs[name]) for name in ("S_ROW", "E_ROW", "S_COL", "E_COL"))

    def layer_sum(layer):
        return int(volume[layer][top : bottom + 1, left : right + 1].sum(dtype=np.int64))

    with ThreadPoolExecutor(_THREADS) as pool:
        total = sum(pool.map(layer_sum, range(int(inputs["S_DEP"]), int(inputs["E_DEP"]) + 1)))
    return {"output": (np.array([0]), np.array([total], np.int64), None)}
