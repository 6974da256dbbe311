"""The driver's functions that ``judge.runner.cuda.replay`` uses, on the emulator's CUDA runtime.

They are for a library that is loaded: its kernels are found by the names of their stubs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judge.runner.device import DeviceError
from judge.runner.symbols import function_offsets


class _Dim3(ctypes.Structure):
    _fields_ = (("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32))


class RuntimeDriver:
    """In the place of ``judge.runner.cuda.driver.Driver``. ``launched`` are the kernels' names, in order."""

    def __init__(self, runtime: ctypes.CDLL, path: Path, library: ctypes.CDLL) -> None:
        self._runtime = runtime
        self._path = path
        self._library = library
        self._names: dict[int, str] = {}
        self.binaries: list[bytes] = []
        self.launched: list[str] = []

    def function(self, name: str) -> Callable[..., int]:
        found: Callable[..., int] = getattr(self, name)
        return found

    def call(self, name: str, *arguments: Any) -> None:
        self.check(name, self.function(name)(*arguments))

    def check(self, name: str, code: int) -> None:
        if code:
            raise DeviceError(code, "cudaErrorUnknown", name)

    def cuModuleLoadData(self, module: Any, data: Any) -> int:
        self.binaries.append(bytes(data))
        module._obj.value = len(self.binaries)
        return 0

    def cuModuleGetFunction(self, function: Any, module: ctypes.c_void_p, name: bytes) -> int:
        if module.value is None or not (stub := self._find(name.decode())):
            return 500
        function._obj.value = stub
        self._names[stub] = name.decode()
        return 0

    def cuFuncGetParamInfo(self, function: Any, index: Any, offset: Any, size: Any) -> int:
        """Asks the program's runtime: this one lacks the function."""
        query = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)
        found = query(self._find("cudaFuncGetParamInfo"))
        return int(found(function, index, ctypes.addressof(offset._obj), ctypes.addressof(size._obj)))

    def cuModuleGetGlobal_v2(self, address: Any, size: Any, module: Any, name: bytes) -> int:
        shadow = self._find(f"_ZL{len(name)}{name.decode()}")
        if module.value is None or not shadow:
            return 500
        self._runtime.cudaGetSymbolSize(size, ctypes.c_void_p(shadow))
        return int(self._runtime.cudaGetSymbolAddress(address, ctypes.c_void_p(shadow)))

    def cuMemAlloc_v2(self, address: Any, size: ctypes.c_size_t) -> int:
        return int(self._runtime.cudaMalloc(address, size))

    def cuMemsetD8Async(self, to: Any, value: Any, size: Any, stream: None) -> int:
        return int(self._runtime.cudaMemsetAsync(ctypes.c_void_p(to.value), value.value, size, stream))

    def cuMemcpyDtoDAsync_v2(self, to: Any, source: Any, size: Any, stream: None) -> int:
        places = ctypes.c_void_p(to.value), ctypes.c_void_p(source.value)
        return int(self._runtime.cudaMemcpyAsync(*places, size, 3, stream))

    def cuMemcpyHtoDAsync_v2(self, to: Any, data: Any, size: Any, stream: None) -> int:
        return int(self._runtime.cudaMemcpyAsync(ctypes.c_void_p(to.value), data, size, 1, stream))

    def cuFuncSetAttribute(self, function: Any, which: Any, value: Any) -> int:
        return int(self._runtime.cudaFuncSetAttribute(function, which, value))

    def cuCtxSynchronize(self) -> int:
        return int(self._runtime.cudaDeviceSynchronize())

    def cuLaunchKernel(self, function: Any, *rest: Any) -> int:
        shape, (stream, parameters, _extra) = [size.value for size in rest[:7]], rest[7:]
        return self._launch("cudaLaunchKernel", function, shape, stream, parameters)

    def cuLaunchCooperativeKernel(self, function: Any, *rest: Any) -> int:
        shape, (stream, parameters) = [size.value for size in rest[:7]], rest[7:]
        return self._launch("cudaLaunchCooperativeKernel", function, shape, stream, parameters)

    def _find(self, name: str) -> int:
        with self._path.open("rb") as file:
            offsets = function_offsets(file.fileno(), ["solve", name])
        if name not in offsets:
            return 0
        return (ctypes.cast(self._library.solve, ctypes.c_void_p).value or 0) - offsets["solve"] + offsets[name]

    def _launch(self, name: str, function: Any, shape: list[int], stream: None, parameters: Any) -> int:
        self.launched.append(self._names[function.value])
        grid, block, shared = _Dim3(*shape[:3]), _Dim3(*shape[3:6]), ctypes.c_size_t(shape[6])
        return int(getattr(self._runtime, name)(function, grid, block, parameters, shared, stream))
