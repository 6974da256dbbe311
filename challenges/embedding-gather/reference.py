"""Rows of a table by their numbers, in NumPy, some at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def make_inputs(rng, N, V, D):
    return {"ids": rng.integers(0, V, N).astype(np.int32)}


def reference(ids, table, N, V, D):
    return table[ids].astype(np.float64)


def spot_check(rng, inputs, outputs):
    """Everything, some tokens at a time."""
    ids, table = inputs["ids"], np.asarray(inputs["table"][:])
    step = max(1, _CHUNK // table.shape[1])
    for start in range(0, len(ids), step):
        rows = np.arange(start, min(start + step, len(ids)))
        yield {"output": (rows, table[ids[rows]].astype(np.float64), None)}
