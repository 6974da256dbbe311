"""Hand-written PTX on the emulated device: put into a fat binary, registered and launched as nvcc's programs are."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emulator import Limits, Runtime

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


class Wrapper(ctypes.Structure):
    _fields_ = [
        ("magic", ctypes.c_int),
        ("version", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("unused", ctypes.c_void_p),
    ]


def fat_binary(text: str) -> bytes:
    payload = text.encode() + b"\0"
    payload += bytes(-len(payload) % 8)
    entry = struct.pack("<HHIQIIHHIIIQQQ", 1, 0x101, 64, len(payload), 0, 0, 0, 0, 80, 0, 0, 0, 0, 0)
    entry += bytes(64 - len(entry))
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) + len(payload)) + entry + payload


class Machine:
    """Launches kernels of PTX texts; arrays go in and out by reference."""

    def __init__(self, library: Path, cache: Path | None = None) -> None:
        self.path = library
        self.runtime = Runtime(library=library, threads=2, cache=cache)
        self._library = ctypes.CDLL(str(library))
        self._register = self._library["__cudaRegisterFatBinary"]
        self._register.restype = ctypes.c_void_p
        self._kept: list[object] = []

    def limit(self, **limits: Any) -> None:
        self.runtime = Runtime(library=self.path, limits=Limits(**limits), threads=2)

    def load(self, text: str, kernel: str) -> ctypes.c_void_p:
        """A handle for ``kernel`` of the module ``text`` (the header may be left out)."""
        if ".version" not in text:
            text = HEADER + text
        binary = ctypes.create_string_buffer(fat_binary(text))
        wrapper = Wrapper(0x466243B1, 1, ctypes.addressof(binary), None)
        handle = ctypes.c_void_p(self._register(ctypes.byref(wrapper)))
        stub = ctypes.create_string_buffer(8)  # its address stands for the host function
        name = kernel.encode()
        nothing = ctypes.c_void_p()
        self._library["__cudaRegisterFunction"](
            handle, stub, name, name, ctypes.c_int(-1), nothing, nothing, nothing, nothing, nothing
        )
        self._library["__cudaRegisterFatBinaryEnd"](handle)
        self._kept += [binary, wrapper, stub]
        return ctypes.cast(stub, ctypes.c_void_p)

    def launch(
        self,
        kernel: ctypes.c_void_p,
        grid: int | tuple[int, int, int],
        block: int | tuple[int, int, int],
        *arguments: Any,
        shared: int = 0,
    ) -> None:
        """Arguments: NumPy arrays (copied to the device and back), ctypes values, or ints for 32-bit parameters."""
        values: list[Any] = []
        copies: list[tuple[np.ndarray[Any, Any], int]] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                pointer = self.runtime.malloc(max(1, argument.nbytes))
                if argument.nbytes:
                    self.runtime.view(pointer, argument.nbytes)[:] = argument.tobytes()
                copies.append((argument, pointer))
                values.append(ctypes.c_uint64(pointer))
            elif isinstance(argument, int):
                values.append(ctypes.c_int32(argument))
            else:
                values.append(argument)
        pointers = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(v) for v in values))
        shapes = [Dim3(*(s if isinstance(s, tuple) else (s, 1, 1))) for s in (grid, block)]
        try:
            self._library.cudaLaunchKernel(kernel, *shapes, pointers, ctypes.c_size_t(shared), ctypes.c_void_p())
            self.runtime.synchronize()
        finally:
            for array, pointer in copies:
                if array.nbytes:
                    array[...] = np.frombuffer(bytes(self.runtime.view(pointer, array.nbytes)), array.dtype).reshape(
                        array.shape
                    )
                self.runtime.free(pointer)

    def run(self, text: str, kernel: str, grid: Any, block: Any, *arguments: Any, shared: int = 0) -> None:
        self.launch(self.load(text, kernel), grid, block, *arguments, shared=shared)


@pytest.fixture(scope="session")
def session_machine(library: Path) -> Machine:
    return Machine(library)


@pytest.fixture
def machine(session_machine: Machine) -> Iterator[Machine]:
    yield session_machine
    session_machine.runtime.clear_errors()
    session_machine.runtime.take_report()
    session_machine.limit()
