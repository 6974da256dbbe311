"""Two kernels by PyCUDA's SourceModule, one of them with a mistake."""

from __future__ import annotations

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
__constant__ float factor;

__global__ void scale(float *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= factor;
}

__global__ void stray(float *values) { values[threadIdx.x] = 1; }
"""

module = SourceModule(SOURCE, options=["-lineinfo"])
address, size = module.get_global("factor")
cuda.memcpy_htod(address, np.float32(3))
values = np.arange(1000, dtype=np.float32)
scaled = values.copy()
module.get_function("scale")(cuda.InOut(scaled), np.int32(values.size), block=(256, 1, 1), grid=(4, 1))
print(bool((scaled == 3 * values).all()))

on_device = gpuarray.to_gpu(values)
print(bool((on_device.get() == values).all()))
try:
    module.get_function("stray")(on_device, block=(1024, 1, 1))
    pycuda.autoinit.context.synchronize()
except cuda.Error:
    pass
