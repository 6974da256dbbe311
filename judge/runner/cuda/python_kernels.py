"""Kernels and memory of a submission in Python on a GPU, through the driver's API."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from judge.runner.cuda.driver import Driver
from judge.runner.triton.parameters import Parameters
from judge.wire.python_program import CompiledKernel, PythonProgram

# From cuda.h.
_MAX_DYNAMIC_SHARED = 8


class PythonKernels:
    """The kernels that are loaded, all before the first call: a driver loads code lazily."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._loaded: dict[str, tuple[ctypes.c_void_p, Parameters]] = {}
        self._launch = driver.function("cuLaunchKernel")

    def load(self, program: PythonProgram) -> None:
        """Raises DeviceError for code that the GPU does not take."""
        for kernel in program.kernels:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            self._driver.call("cuModuleLoadData", ctypes.byref(module), kernel.image)
            self._driver.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.name.encode())
            if kernel.shared > 48 << 10:
                self._driver.call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, kernel.shared)
            self._loaded[kernel.key] = function, Parameters(kernel)

    def start(
        self, kernel: CompiledKernel, grid: tuple[int, int, int], given: Sequence[int | float], scratch: int
    ) -> None:
        """Launches a kernel on the default stream."""
        function, parameters = self._loaded[kernel.key]
        parameters.fill(given, scratch)
        code = self._launch(function, *grid, 32 * kernel.warps, 1, 1, kernel.shared, None, parameters.pointers, None)
        self._driver.check("cuLaunchKernel", code)


class PythonMemory:
    """Memory that a submission allocates. What it frees is kept for its next array of that size, as PyTorch does:
    otherwise each call would pay for the driver's allocation."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._free: dict[int, list[int]] = {}

    def allocate(self, size: int) -> int:
        kept = self._free.get(size)
        if kept:
            return kept.pop()
        address = ctypes.c_uint64()
        self._driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return int(address.value)

    def free(self, address: int, size: int) -> None:
        self._free.setdefault(size, []).append(address)

    def fill(self, address: int, byte: int, size: int) -> None:
        self._driver.call(
            "cuMemsetD8Async", ctypes.c_uint64(address), ctypes.c_ubyte(byte), ctypes.c_size_t(size), None
        )

    def write(self, address: int, data: bytes) -> None:
        source: Any = data
        self._driver.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), source, ctypes.c_size_t(len(data)))

    def copy(self, target: int, source: int, size: int) -> None:
        addresses = ctypes.c_uint64(target), ctypes.c_uint64(source)
        self._driver.call("cuMemcpyDtoDAsync_v2", *addresses, ctypes.c_size_t(size), None)
