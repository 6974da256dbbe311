"""The device that a case needs, and the emulator as one."""

from __future__ import annotations

import ctypes
from typing import Any, Protocol

import numpy as np

from tests.unit.emulator.jit.conftest import Dim3, Machine

HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n"

Array = np.ndarray[Any, Any]
#: The numbers of CUtensorMapDataType that the cases use.
DATA_TYPES = {"u8": 0, "u16": 1, "u32": 2, "f16": 6, "f32": 7}


class Device(Protocol):
    """Memory and launches. Pointers are integers."""

    def upload(self, array: Array) -> int: ...

    def download(self, pointer: int, like: Array) -> Array: ...

    def launch(self, text: str, grid: int, block: int, shared: int, *pointers: int) -> None:
        """Runs the kernel ``k``, whose parameters are pointers, and waits for it."""

    def driver_function(self, name: str) -> Any:
        """Returns a function of the driver."""


def tensor_map(
    device: Device,
    address: int,
    kind: str,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    box: tuple[int, ...],
    *,
    steps: tuple[int, ...] = (),
    swizzle: int = 0,
) -> int:
    """Returns a device pointer to a tensor map. Sizes are in elements, the first dimension first; strides in bytes."""
    tensor = _numbers(ctypes.c_uint64, sizes), _numbers(ctypes.c_uint64, strides)
    ones = (1,) * len(sizes)
    narrow = _numbers(ctypes.c_uint32, box), _numbers(ctypes.c_uint32, steps or ones)
    begin = DATA_TYPES[kind], len(sizes), ctypes.c_void_p(address)
    return _encoded(device, "cuTensorMapEncodeTiled", *begin, *tensor, *narrow, 0, swizzle, 0, 0)


def im2col_map(
    device: Device,
    address: int,
    kind: str,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    corners: tuple[tuple[int, ...], tuple[int, ...]],
    channels: int,
    pixels: int,
    *,
    steps: tuple[int, ...] = (),
    swizzle: int = 0,
) -> int:
    """As ``tensor_map``, of im2col: ``corners`` of the box of pixels, the lower one first."""
    tensor = _numbers(ctypes.c_uint64, sizes), _numbers(ctypes.c_uint64, strides)
    box = *(_numbers(ctypes.c_int, corner) for corner in corners), channels, pixels
    begin = DATA_TYPES[kind], len(sizes), ctypes.c_void_p(address)
    end = _numbers(ctypes.c_uint32, steps or (1,) * len(sizes)), 0, swizzle, 0, 0
    return _encoded(device, "cuTensorMapEncodeIm2col", *begin, *tensor, *box, *end)


def _numbers(kind: Any, values: tuple[int, ...]) -> Any:
    return (kind * len(values))(*values)


def _encoded(device: Device, function: str, *arguments: Any) -> int:
    raw = ctypes.create_string_buffer(256)
    aligned = -(-ctypes.addressof(raw) // 128) * 128
    code = device.driver_function(function)(ctypes.c_void_p(aligned), *arguments)
    assert code == 0, f"{function} gave {code}"
    return device.upload(np.frombuffer(ctypes.string_at(aligned, 128), np.uint8))


class EmulatedDevice:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._library = ctypes.CDLL(str(machine.path))

    def upload(self, array: Array) -> int:
        pointer = self._machine.runtime.malloc(max(16, array.nbytes))
        self._machine.runtime.view(pointer, array.nbytes)[:] = array.tobytes()
        return pointer

    def download(self, pointer: int, like: Array) -> Array:
        data = bytes(self._machine.runtime.view(pointer, like.nbytes))
        return np.frombuffer(data, like.dtype).reshape(like.shape)

    def launch(self, text: str, grid: int, block: int, shared: int, *pointers: int) -> None:
        kernel = self._machine.load(HEADER + text, "k")
        self._library.cudaFuncSetAttribute(kernel, 8, shared)
        values = [ctypes.c_uint64(p) for p in pointers]
        addresses = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        self._library.cudaLaunchKernel(
            kernel, Dim3(grid, 1, 1), Dim3(block, 1, 1), addresses, ctypes.c_size_t(shared), ctypes.c_void_p()
        )
        self._machine.runtime.synchronize()

    def driver_function(self, name: str) -> Any:
        function, found = ctypes.c_void_p(), ctypes.c_int()
        self._library.cudaGetDriverEntryPointByVersion(
            name.encode(), ctypes.byref(function), 12000, ctypes.c_uint64(0), ctypes.byref(found)
        )
        assert function.value
        return ctypes.CFUNCTYPE(ctypes.c_int)(function.value)
