"""The signature of ``solve`` and what is generated from it: the prototype, ``solve.h`` and the starter file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judge.packs.expressions import Expression

Role = Literal["in", "out", "inout", "scalar"]

#: C types that arguments may have, by NumPy type.
C_TYPES: dict[str, np.dtype[np.generic]] = {
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "half": np.dtype(np.float16),
    "int8_t": np.dtype(np.int8),
    "uint8_t": np.dtype(np.uint8),
    "unsigned char": np.dtype(np.uint8),
    "int16_t": np.dtype(np.int16),
    "uint16_t": np.dtype(np.uint16),
    "int": np.dtype(np.int32),
    "int32_t": np.dtype(np.int32),
    "unsigned int": np.dtype(np.uint32),
    "uint32_t": np.dtype(np.uint32),
    "int64_t": np.dtype(np.int64),
    "uint64_t": np.dtype(np.uint64),
    "size_t": np.dtype(np.uint64),
}

_ACCESS = {"in": "read", "out": "write", "inout": "read and write"}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of ``solve``. ``c_type`` is written as in C, ``dtype`` is that of an element, ``shape`` the extents
    over the axes (empty for a scalar), ``value`` a scalar's value over axes and parameters (None for arrays)."""

    name: str
    c_type: str
    role: Role
    dtype: np.dtype[np.generic]
    shape: tuple[Expression, ...]
    value: Expression | None
    description: str

    @property
    def is_pointer(self) -> bool:
        return self.role != "scalar"


def parse_c_type(c_type: str) -> tuple[np.dtype[np.generic], bool, bool]:
    """(dtype, is a pointer, is const) of a type such as ``const float*``; raises ValueError for one that is not
    known."""
    words = c_type.strip()
    is_const = words.startswith("const ")
    is_pointer = words.endswith("*")
    base = words.removeprefix("const ").removesuffix("*").strip()
    if base not in C_TYPES:
        raise ValueError(f"unknown type '{c_type}': known are {', '.join(C_TYPES)}, with * and const for pointers")
    return C_TYPES[base], is_pointer, is_const


def signature_text(arguments: Sequence[Argument]) -> str:
    """``void solve(const float* A, ..., int N)``"""
    return f"void solve({', '.join(f'{argument.c_type} {argument.name}' for argument in arguments)})"


def prototype(arguments: Sequence[Argument]) -> str:
    """``extern "C" void solve(...);``"""
    return f'extern "C" {signature_text(arguments)};'


def header(arguments: Sequence[Argument]) -> str:
    """The text of ``solve.h``: what the signature needs, and the prototype."""
    return "\n".join(["#pragma once", "", *_includes(arguments), "", prototype(arguments), ""])


def starter(title: str, arguments: Sequence[Argument]) -> str:
    """The text of ``starter.cu``: compiles, and does nothing yet."""
    width = max(len(argument.name) for argument in arguments)
    notes = []
    for argument in arguments:
        if argument.is_pointer:
            extents = " x ".join(extent.text for extent in argument.shape)
            kind = f"device, {_ACCESS[argument.role]} [{extents}]"
        else:
            kind = argument.c_type
        described = f", {argument.description}" if argument.description else ""
        notes.append(f"//   {argument.name:<{width}}  {kind}{described}")
    return "\n".join(
        [f"// {title}", *notes, "", *_includes(arguments), "", f'extern "C" {signature_text(arguments)} {{', "}", ""]
    )


def _includes(arguments: Sequence[Argument]) -> list[str]:
    types = " ".join(argument.c_type for argument in arguments)
    lines = ["#include <cuda_runtime.h>"]
    if "half" in types:
        lines.append("#include <cuda_fp16.h>")
    if "int8_t" in types or "int16_t" in types or "int32_t" in types or "int64_t" in types:
        lines.append("#include <cstdint>")
    return lines
