"""Kernels and memory of a submission in Python on a GPU, through the driver's API."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from judge.runner.cuda.driver import Driver
from judge.runner.cuda.python_steps import PythonSteps
from judge.runner.triton.parameters import Parameters
from judge.wire.python_program import CompiledKernel, PythonProgram

# From cuda.h.
_MAX_DYNAMIC_SHARED, _OUT_OF_MEMORY = 8, 2


class PythonKernels:
    """The kernels that are loaded, all before the first call: a driver loads code lazily."""

    def __init__(self, driver: Driver, steps: PythonSteps | None = None) -> None:
        self._driver = driver
        self._steps = steps
        self._loaded: dict[str, tuple[ctypes.c_void_p, Parameters]] = {}
        #: The numbers of kernels in the recording, if there is one.
        self._numbers: dict[str, int] = {}
        self._launch = driver.function("cuLaunchKernel")

    def load(self, program: PythonProgram) -> None:
        """Raises DeviceError for code that the GPU does not take."""
        for kernel in program.kernels:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            self._driver.call("cuModuleLoadData", ctypes.byref(module), kernel.image)
            self._driver.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.name.encode())
            parameters = Parameters(kernel)
            if self._steps is not None:
                self._numbers[kernel.key] = self._steps.kernel(kernel.name, parameters)
            if kernel.shared > 48 << 10:
                self._driver.call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, kernel.shared)
                if self._steps is not None:
                    self._steps.attribute(self._numbers[kernel.key], _MAX_DYNAMIC_SHARED, kernel.shared)
            self._loaded[kernel.key] = function, parameters

    def start(
        self,
        kernel: CompiledKernel,
        grid: tuple[int, int, int],
        given: Sequence[int | float],
        scratch: int,
        stream: int = 0,
    ) -> None:
        """Launches a kernel on a stream: the default one, unless another is given."""
        function, parameters = self._loaded[kernel.key]
        parameters.fill(given, scratch)
        if self._steps is not None:
            self._steps.launch(self._numbers[kernel.key], grid, 32 * kernel.warps, kernel.shared, parameters, stream)
        block, on = (32 * kernel.warps, 1, 1, kernel.shared), ctypes.c_void_p(stream)
        code = self._launch(function, *grid, *block, on, parameters.pointers, None)
        self._driver.check("cuLaunchKernel", code)


class PythonMemory:
    """Memory that a submission allocates.

    What it frees is kept for its next array of that size, as PyTorch does: otherwise each call would pay for the
    driver's allocation. The driver gets it back when it has no more memory.
    """

    def __init__(self, driver: Driver, steps: PythonSteps | None = None) -> None:
        self._driver = driver
        self._steps = steps
        #: By size and the stream that used it, on which alone it can be used again.
        self._free: dict[tuple[int, int], list[int]] = {}

    def allocate(self, size: int, stream: int = 0) -> int:
        kept = self._free.get((size, stream))
        if kept:
            return kept.pop()
        address, wanted = ctypes.c_uint64(), ctypes.c_size_t(max(size, 1))
        allocate = self._driver.function("cuMemAlloc_v2")
        code = allocate(ctypes.byref(address), wanted)
        if code == _OUT_OF_MEMORY:
            self._give_back()
            code = allocate(ctypes.byref(address), wanted)
        self._driver.check("cuMemAlloc_v2", code)
        if self._steps is not None:
            self._steps.allocate(address.value, wanted.value)
        return int(address.value)

    def free(self, address: int, size: int, stream: int = 0) -> None:
        self._free.setdefault((size, stream), []).append(address)

    def _give_back(self) -> None:
        """Frees what is kept; the driver waits for the kernels that use it."""
        for address in (address for kept in self._free.values() for address in kept):
            if self._steps is not None:
                self._steps.release(address)
            self._driver.call("cuMemFree_v2", ctypes.c_uint64(address))
        self._free.clear()

    def fill(self, address: int, byte: int, size: int) -> None:
        if self._steps is not None:
            self._steps.fill(address, size, byte)
        self._driver.call(
            "cuMemsetD8Async", ctypes.c_uint64(address), ctypes.c_ubyte(byte), ctypes.c_size_t(size), None
        )

    def write(self, address: int, data: bytes) -> None:
        if self._steps is not None:
            self._steps.write(address, data)
        source: Any = data
        self._driver.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), source, ctypes.c_size_t(len(data)))

    def copy(self, target: int, source: int, size: int) -> None:
        if self._steps is not None:
            self._steps.copy(target, source, size)
        addresses = ctypes.c_uint64(target), ctypes.c_uint64(source)
        self._driver.call("cuMemcpyDtoDAsync_v2", *addresses, ctypes.c_size_t(size), None)
