"""Numbers as the elements of an array: their type, as PyTorch gives it, and their bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NoReturn

from judge.runner.triton.dtypes import DTYPES, DType

_FLOATS = {2: "e", 4: "f", 8: "d"}
#: Why arrays refuse what PyTorch has.
WHY = "is not there: arrays are addresses, extents and a type, and kernels compute with what is in them"


def refuse(what: str) -> NoReturn:
    """Raises NotImplementedError, as PyTorch does where an operation is missing; its message names the operation."""
    raise NotImplementedError(f"{what} {WHY}")


def natural_dtype(numbers: Sequence[Any]) -> DType:
    """Returns the type that PyTorch gives numbers."""
    if numbers and all(isinstance(each, bool) for each in numbers):
        return DTYPES["bool"]
    return DTYPES["int64" if numbers and all(isinstance(each, int) for each in numbers) else "float32"]


def flattened(data: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Returns the extents of nested lists, and the numbers in them."""
    if not isinstance(data, (list, tuple)):
        return (), [data]
    parts = [flattened(each) for each in data]
    inner = parts[0][0] if parts else ()
    if any(shape != inner for shape, _ in parts):
        raise ValueError("the lists are not all equally long")
    return (len(parts), *inner), [number for _, numbers in parts for number in numbers]


def bytes_of(numbers: Sequence[float], dtype: DType) -> bytes:
    """Returns numbers as elements of a type. Raises NotImplementedError for FP8, but for zeros."""
    if not all(isinstance(each, (int, float)) for each in numbers):
        refuse(f"an array of {type(numbers[0]).__name__}")
    if not any(numbers):
        return bytes(len(numbers) * dtype.itemsize)
    if dtype.triton == "bf16":
        return b"".join(_bfloat16(float(each)) for each in numbers)
    if dtype.is_floating_point:
        if dtype.itemsize == 1:
            refuse(f"filling an array of {dtype}")
        return struct.pack(f"<{len(numbers)}{_FLOATS[dtype.itemsize]}", *map(float, numbers))
    if dtype.triton == "i1":
        return bytes(bool(each) for each in numbers)
    signed = dtype.triton.startswith("i")
    return b"".join(int(each).to_bytes(dtype.itemsize, "little", signed=signed) for each in numbers)


def _bfloat16(value: float) -> bytes:
    word: int = struct.unpack("<I", struct.pack("<f", value))[0]
    if value == value:  # NaN stays one
        word += 0x7FFF + (word >> 16 & 1)
    return (word >> 16).to_bytes(2, "little")
