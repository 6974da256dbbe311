"""The CUDA runtime that the process has loaded, through ctypes: the emulator's or NVIDIA's."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tests.kernels.case import Array

_LIBRARY = "libcudart.so.13"
_L2_CACHE_SIZE, _MAJOR, _MINOR = 38, 75, 76  # of cudaDeviceAttr
_TO_DEVICE, _TO_HOST = 1, 2


class CudaError(Exception):
    """A runtime function's error, with its name."""


class Device:
    """Memory, calls and times on device 0 of the given runtime library."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        library.cudaGetErrorName.restype = ctypes.c_char_p
        library.cudaGetErrorString.restype = ctypes.c_char_p

    def _call(self, function: str, *arguments: object) -> None:
        code = getattr(self._library, function)(*arguments)
        if code:
            name, text = (getattr(self._library, f"cudaGetError{part}")(code).decode() for part in ("Name", "String"))
            raise CudaError(f"{function}: {name} ({text})")

    def malloc(self, size_bytes: int) -> int:
        pointer = ctypes.c_void_p()
        self._call("cudaMalloc", ctypes.byref(pointer), ctypes.c_size_t(size_bytes))
        assert pointer.value is not None
        return pointer.value

    def free(self, pointer: int) -> None:
        self._call("cudaFree", ctypes.c_void_p(pointer))

    def fill(self, pointer: int, byte: int, size_bytes: int) -> None:
        self._call("cudaMemset", ctypes.c_void_p(pointer), ctypes.c_int(byte), ctypes.c_size_t(size_bytes))

    def put(self, pointer: int, values: Array) -> None:
        values = np.ascontiguousarray(values)
        source = ctypes.c_void_p(values.ctypes.data)
        self._call("cudaMemcpy", ctypes.c_void_p(pointer), source, ctypes.c_size_t(values.nbytes), _TO_DEVICE)

    def get(self, pointer: int, into: Array) -> None:
        target = ctypes.c_void_p(into.ctypes.data)
        self._call("cudaMemcpy", target, ctypes.c_void_p(pointer), ctypes.c_size_t(into.nbytes), _TO_HOST)

    def synchronize(self) -> None:
        """Raises ``CudaError`` for what a launch or a kernel did wrong."""
        self._call("cudaGetLastError")
        self._call("cudaDeviceSynchronize")

    def attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self._call("cudaDeviceGetAttribute", ctypes.byref(value), number, 0)
        return value.value

    @property
    def name(self) -> str:
        # cudaDeviceProp begins with the name; the rest is larger than no runtime's.
        properties = ctypes.create_string_buffer(8192)
        self._call("cudaGetDeviceProperties", properties, 0)
        return properties.value.decode()

    @property
    def architecture(self) -> str:
        """Such as ``90``."""
        return f"{self.attribute(_MAJOR)}{self.attribute(_MINOR)}"

    @contextmanager
    def timer(self) -> Iterator[Callable[[Callable[[], None]], float]]:
        """Gives a function that calls what it is given and tells how long that took on the device, in seconds.

        The L2 cache is flushed first: twice its size is overwritten, on the device, so that the call's launches are
        queued by the time it is done.
        """
        size_bytes = 2 * self.attribute(_L2_CACHE_SIZE)
        scratch = self.malloc(size_bytes)
        events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in events:
            self._call("cudaEventCreate", ctypes.byref(event))

        def measure(call: Callable[[], None]) -> float:
            self.fill(scratch, 0x55, size_bytes)
            self._call("cudaEventRecord", events[0], None)
            call()
            self._call("cudaEventRecord", events[1], None)
            self._call("cudaEventSynchronize", events[1])
            took_ms = ctypes.c_float()
            self._call("cudaEventElapsedTime", ctypes.byref(took_ms), *events)
            return took_ms.value / 1e3

        yield measure
        for event in events:
            self._call("cudaEventDestroy", event)
        self.free(scratch)


def real_device() -> Device:
    """Device 0 by NVIDIA's runtime. Raises ``OSError`` where that is not installed."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        home = os.environ.get(variable)
        for folder in ("lib64", "lib", "targets/x86_64-linux/lib"):
            if home and (Path(home) / folder / _LIBRARY).exists():
                return Device(ctypes.CDLL(str(Path(home) / folder / _LIBRARY), mode=ctypes.RTLD_GLOBAL))
    default = Path("/usr/local/cuda/lib64") / _LIBRARY
    return Device(ctypes.CDLL(str(default) if default.exists() else _LIBRARY, mode=ctypes.RTLD_GLOBAL))
