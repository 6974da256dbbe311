"""Vector addition in NumPy: C = A + B."""

import numpy as np

_BLOCK = 4096
_BLOCKS = 256


def reference(A, B, N):
    return A.astype(np.float64) + B


def spot_check(rng, inputs, outputs):
    """Blocks of consecutive elements at random places; always the ends."""
    size = int(inputs["N"])
    if size <= _BLOCK * _BLOCKS:
        rows = np.arange(size)
    else:
        begins = np.concatenate([[0, size - _BLOCK], rng.integers(0, size - _BLOCK, _BLOCKS)])
        rows = (begins[:, None] + np.arange(_BLOCK)).reshape(-1)
    return {"C": (rows, reference(inputs["A"][rows], inputs["B"][rows], size), None)}
