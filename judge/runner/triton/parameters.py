"""The arguments of a launch as the device takes them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

_TYPES: dict[str, Any] = {
    "u1": ctypes.c_uint8, "i1": ctypes.c_int8, "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "i16": ctypes.c_int16,
    "u16": ctypes.c_uint16, "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64, "fp32": ctypes.c_float, "fp64": ctypes.c_double,
}  # fmt: skip


def parameters(given: Sequence[tuple[str, int | float]], scratch: int) -> list[Any]:
    """Returns the values by Triton's types, and then its two own: scratch memory, and that of its profiler, none."""
    values = [ctypes.c_uint64(int(value)) if kind.startswith("*") else _value(kind, value) for kind, value in given]
    return [*values, ctypes.c_uint64(scratch), ctypes.c_uint64(0)]


def _value(kind: str, value: int | float) -> Any:
    c_type = _TYPES.get(kind)
    if c_type is None:
        raise TypeError(f"a number of the type {kind} cannot be passed by value: pass a float")
    return c_type(float(value) if kind.startswith("fp") else int(value))
