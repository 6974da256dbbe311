"""Vector addition in NumPy: C = A + B."""

import numpy as np

_BLOCK = 4096
_BLOCKS = 256
#: Blocks looked at at once: few enough to stay in a processor's cache, enough that threads seldom wait for the
#: interpreter.
_AT_ONCE = 32


def reference(A, B, N):
    return A.astype(np.float64) + B


def spot_check(rng, inputs, outputs):
    """Blocks of consecutive elements at random places; always the ends."""
    size = int(inputs["N"])
    if size <= _BLOCK * _BLOCKS:
        parts = [np.arange(size)]
    else:
        begins = np.concatenate([[0, size - _BLOCK], rng.integers(0, size - _BLOCK, _BLOCKS)])
        blocks = begins[:, None] + np.arange(_BLOCK)
        parts = (blocks[i : i + _AT_ONCE].reshape(-1) for i in range(0, len(blocks), _AT_ONCE))
    for rows in parts:
        yield {"C": (rows, reference(inputs["A"][rows], inputs["B"][rows], size), None)}
