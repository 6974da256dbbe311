"""The arguments of a launch as the device takes them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from judge.wire.python_program import CompiledKernel

_TYPES: dict[str, Any] = {
    "u1": ctypes.c_uint8, "i1": ctypes.c_int8, "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "i16": ctypes.c_int16,
    "u16": ctypes.c_uint16, "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64, "fp32": ctypes.c_float, "fp64": ctypes.c_double,
}  # fmt: skip


class Parameters:
    """The arguments of one kernel's launches, in memory that each launch fills anew: drivers copy them.

    Behind the kernel's own come Triton's two: scratch memory, and that of its profiler, none. Raises TypeError for a
    kernel that takes a type which is not passed by value.
    """

    def __init__(self, kernel: CompiledKernel) -> None:
        kinds = [kind for _, kind in kernel.arguments]
        for kind in kinds:
            if not kind.startswith("*") and kind not in _TYPES:
                raise TypeError(f"a number of the type {kind} cannot be passed by value: pass a float")
        types = [ctypes.c_uint64 if kind.startswith("*") else _TYPES[kind] for kind in kinds]
        self._values = [each() for each in (*types, ctypes.c_uint64, ctypes.c_uint64)]
        #: Offset and size of each among the kernel's parameters: at multiples of their sizes.
        self.places: list[tuple[int, int]] = []
        end = 0
        for value in self._values:
            size = ctypes.sizeof(value)
            begin = -(-end // size) * size
            self.places.append((begin, size))
            end = begin + size
        addresses = (ctypes.addressof(value) for value in self._values)
        #: What a launch is given.
        self.pointers = (ctypes.c_void_p * len(self._values))(*addresses)

    def fill(self, given: Sequence[int | float], scratch: int) -> None:
        """Puts the values in their places."""
        for place, value in zip(self._values, given, strict=False):
            place.value = value
        self._values[-2].value = scratch

    def content(self) -> bytes:
        """Returns the parameters as one piece of memory."""
        begin, size = self.places[-1]
        made = bytearray(begin + size)
        for (offset, length), value in zip(self.places, self._values, strict=True):
            made[offset : offset + length] = bytes(value)
        return bytes(made)
