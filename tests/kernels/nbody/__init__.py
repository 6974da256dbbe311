"""The accelerations of n bodies by each other: ``solve(bodies, out, n)``, float4 (place, mass) in, float4 out."""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, generator, rounding

SMALL = {"n": 300}
MODEL = {"n": 8192}

SOFTENING = 0.01


def case(n: int) -> Case:
    random = generator(15)
    bodies = random.random((n, 4), dtype=np.float32)
    exact = bodies.astype(np.float64)
    expected, magnitude = np.zeros((n, 4)), np.zeros((n, 4))
    for first in range(0, n, 256):
        # Σ m (p_j - p_i) / (r² + ε)^1.5 as a product of matrices: Σ w p_j - p_i Σ w.
        mine = exact[first : first + 256, :3]
        squares = (mine**2).sum(axis=1)[:, None] + (exact[:, :3] ** 2).sum(axis=1) - 2 * mine @ exact[:, :3].T
        weights = exact[:, 3] * (np.maximum(squares, 0) + SOFTENING) ** -1.5
        total = weights.sum(axis=1, keepdims=True)
        expected[first : first + 256, :3] = weights @ exact[:, :3] - mine * total
        magnitude[first : first + 256, :3] = total
    # rsqrt is good to two units, and goes in by its third power.
    return Case((bodies, Output(expected, np.float32, rounding(16 * n, magnitude)), c_int(n)))
