"""A kernel by Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda


@cuda.jit
def add(a: Any, b: Any, c: Any) -> None:
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


values = np.arange(1000, dtype=np.float32)
total = cuda.to_device(np.zeros_like(values))
add[4, 256](cuda.to_device(values), cuda.to_device(values), total)
print(bool((total.copy_to_host() == 2 * values).all()))
