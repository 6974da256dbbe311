"""Kernels and memory of a submission in Python on the emulator, through the runtime's API as a native one would."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from judge.runner.triton.parameters import Parameters
from judge.wire.python_program import CompiledKernel, PythonProgram, kernel_fat_binaries

# From driver_types.h, and what nvcc puts before a fat binary.
_HOST_TO_DEVICE, _DEVICE_TO_DEVICE, _MAX_DYNAMIC_SHARED, _MAGIC = 1, 3, 8, 0x466243B1


class _Dim3(ctypes.Structure):
    _fields_ = (("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint))


class _Wrapper(ctypes.Structure):
    _fields_ = (
        ("magic", ctypes.c_int),
        ("version", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("more", ctypes.c_void_p),
    )


class EmulatedKernels:
    """The kernels that are loaded. ``check`` raises what a call of the runtime that failed has left."""

    def __init__(self, library: ctypes.CDLL, check: Callable[[int], None]) -> None:
        self._library, self._check = library, check
        self._stubs: dict[str, Any] = {}
        #: The runtime has the addresses of all this for as long as the process lives.
        self._kept: list[Any] = []
        library.cudaLaunchKernel.argtypes = [
            ctypes.c_void_p, _Dim3, _Dim3, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_void_p,
        ]  # fmt: skip
        getattr(library, "__cudaRegisterFatBinary").restype = ctypes.c_void_p

    def load(self, program: PythonProgram) -> None:
        """Registers each kernel as a program of its own."""
        register, function, end = (
            getattr(self._library, name)
            for name in ("__cudaRegisterFatBinary", "__cudaRegisterFunction", "__cudaRegisterFatBinaryEnd")
        )
        for kernel, image in zip(program.kernels, kernel_fat_binaries(program), strict=True):
            data, stub = ctypes.create_string_buffer(image, len(image)), ctypes.create_string_buffer(1)
            name = ctypes.create_string_buffer(kernel.name.encode())
            wrapper = _Wrapper(_MAGIC, 1, ctypes.addressof(data), None)
            self._kept += [data, stub, name, wrapper]
            handle = ctypes.c_void_p(register(ctypes.byref(wrapper)))
            function(handle, stub, None, name, -1, None, None, None, None, None)
            end(handle)
            self._stubs[kernel.key] = stub

    def start(
        self, kernel: CompiledKernel, grid: tuple[int, int, int], given: Sequence[int | float], scratch: int
    ) -> None:
        """Launches a kernel and waits for it."""
        stub = self._stubs[kernel.key]
        if kernel.shared > 48 << 10:
            self._check(self._library.cudaFuncSetAttribute(stub, _MAX_DYNAMIC_SHARED, kernel.shared))
        parameters = Parameters(kernel)
        parameters.fill(given, scratch)
        code = self._library.cudaLaunchKernel(
            ctypes.addressof(stub),
            _Dim3(*grid),
            _Dim3(32 * kernel.warps, 1, 1),
            parameters.pointers,
            kernel.shared,
            None,
        )
        self._check(code)


class EmulatedMemory:
    """Memory that a submission allocates. The emulator tells what is read of it before it was written."""

    def __init__(self, library: ctypes.CDLL, check: Callable[[int], None]) -> None:
        self._library, self._check = library, check

    def allocate(self, size: int) -> int:
        address = ctypes.c_void_p()
        self._check(self._library.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(max(size, 1))))
        return address.value or 0

    def free(self, address: int, size: int) -> None:
        del size
        self._library.cudaFree(ctypes.c_void_p(address))

    def fill(self, address: int, byte: int, size: int) -> None:
        self._check(self._library.cudaMemset(ctypes.c_void_p(address), byte, ctypes.c_size_t(size)))

    def write(self, address: int, data: bytes) -> None:
        target, size = ctypes.c_void_p(address), ctypes.c_size_t(len(data))
        self._check(self._library.cudaMemcpy(target, data, size, _HOST_TO_DEVICE))

    def copy(self, target: int, source: int, size: int) -> None:
        to, start = ctypes.c_void_p(target), ctypes.c_void_p(source)
        self._check(self._library.cudaMemcpy(to, start, ctypes.c_size_t(size), _DEVICE_TO_DEVICE))
