"""A kernel by cuda.bindings.driver: with_cuda_python.py IMAGE."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np
from cuda.bindings import driver


def done(answer: tuple[Any, ...]) -> Any:
    """Returns the other parts of an answer. Ends the program if its result is an error."""
    result, *others = answer
    if result != driver.CUresult.CUDA_SUCCESS:
        raise SystemExit(str(result))
    return others[0] if len(others) == 1 else others


COUNT = 1000
done(driver.cuInit(0))
device = done(driver.cuDeviceGet(0))
context = done(driver.cuDevicePrimaryCtxRetain(device))
done(driver.cuCtxSetCurrent(context))
module = done(driver.cuModuleLoadData(Path(sys.argv[1]).read_bytes()))
function = done(driver.cuModuleGetFunction(module, b"add"))
values = np.arange(COUNT, dtype=np.float32)
total = np.zeros_like(values)
arrays = [done(driver.cuMemAlloc(values.nbytes)) for _ in range(3)]
for array in arrays[:2]:
    done(driver.cuMemcpyHtoD(array, values.ctypes.data, values.nbytes))
arguments = ((*map(int, arrays), COUNT), (*[ctypes.c_void_p] * 3, ctypes.c_int))
done(driver.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, 0, arguments, 0))
done(driver.cuMemcpyDtoH(total.ctypes.data, arrays[2], total.nbytes))
print(bool((total == 2 * values).all()))
for array in arrays:
    done(driver.cuMemFree(array))
done(driver.cuModuleUnload(module))
done(driver.cuDevicePrimaryCtxRelease(device))
