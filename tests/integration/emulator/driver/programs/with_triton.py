"""A kernel by Triton, launched on memory of the driver's."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_size_t, c_uint64, c_void_p

import numpy as np
import triton
import triton.language as tl

COUNT = 1000
driver = ctypes.CDLL("libcuda.so.1")


@triton.jit
def add(a, b, c, count, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    mask = at < count
    tl.store(c + at, tl.load(a + at, mask=mask) + tl.load(b + at, mask=mask), mask=mask)


class Array:
    """Floats on the device, as Triton takes them."""

    dtype = "float32"

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.pointer = c_uint64()
        succeed(driver.cuMemAlloc_v2(byref(self.pointer), c_size_t(values.nbytes)))
        succeed(driver.cuMemcpyHtoD_v2(self.pointer, c_void_p(values.ctypes.data), c_size_t(values.nbytes)))

    def data_ptr(self) -> int:
        return self.pointer.value

    def fetch(self) -> np.ndarray:
        succeed(driver.cuMemcpyDtoH_v2(c_void_p(self.values.ctypes.data), self.pointer, c_size_t(self.values.nbytes)))
        return self.values

    def free(self) -> None:
        succeed(driver.cuMemFree_v2(self.pointer))


def succeed(result: int) -> None:
    if result:
        raise SystemExit(f"CUresult {result}")


triton.runtime.driver.active.get_current_target()  # makes the primary context current
values = np.arange(COUNT, dtype=np.float32)
a, b, c = Array(values), Array(2 * values), Array(0 * values)
add[(4,)](a, b, c, COUNT, block=256)
print(bool((c.fetch() == 3 * values).all()))
for array in (a, b, c):
    array.free()
