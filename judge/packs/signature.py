"""The signature of ``solve`` and what is generated from it: the prototype, ``solve.h`` and the starter file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from judge.packs.argument import Argument
from judge.wire.elements import C_NAMES, C_VECTORS, Element

_SIGNATURE = re.compile(r'(?:extern "C" )?void solve ?\((.*)\) ?;?')
_ARGUMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_ ]*?)(?: ?(\*) ?| )([A-Za-z][A-Za-z0-9_]*)")
_ACCESS = {"in": "read", "out": "write", "inout": "read and write"}


class CType(NamedTuple):
    """A type of the argument list, taken apart. ``lanes`` is above 1 for the vectors of CUDA, such as float4."""

    element: Element
    is_pointer: bool
    is_const: bool
    lanes: int = 1


def parse_c_type(c_type: str) -> CType:
    """Parses a type such as ``const float*``. Raises ValueError for one that is not known."""
    words = c_type.strip()
    base = _base_name(words)
    is_pointer, is_const = words.endswith("*"), words.startswith("const ")
    if base in C_VECTORS and is_pointer:
        element, lanes, _ = C_VECTORS[base]
        return CType(element, is_pointer, is_const, lanes)
    if base not in C_NAMES:
        known = ", ".join(C_NAMES)
        raise ValueError(f"unknown type '{c_type}': known are {known}, with * and const for pointers, and float4* etc.")
    return CType(C_NAMES[base][0], is_pointer, is_const)


def parse_signature(text: str) -> tuple[tuple[str, str], ...]:
    """Returns the type and name of each argument of ``void solve(const float* A, ..., int N)``.

    Spaces do not matter. Raises ValueError for a text of another form.
    """
    match = _SIGNATURE.fullmatch(" ".join(text.split()))
    if match is None:
        raise ValueError("must have the form: void solve(const float* input, float* output, int N)")
    arguments = []
    for part in match.group(1).split(","):
        found = _ARGUMENT.fullmatch(part.strip())
        if found is None:
            raise ValueError(f"'{part.strip()}' must be a type and a name, as in const float* input")
        base, star, name = found.groups()
        arguments.append((f"{base.strip()}{'*' if star else ''}", name))
    return tuple(arguments)


def signature_text(arguments: Sequence[Argument]) -> str:
    """Returns ``void solve(const float* A, ..., int N)``."""
    return f"void solve({', '.join(f'{argument.c_type} {argument.name}' for argument in arguments)})"


def prototype(arguments: Sequence[Argument]) -> str:
    """Returns ``extern "C" void solve(...);``."""
    return f'extern "C" {signature_text(arguments)};'


def header(arguments: Sequence[Argument]) -> str:
    """Returns the text of ``solve.h``: the headers that the signature needs, and the prototype."""
    return "\n".join(["#pragma once", "", *_includes(arguments), "", prototype(arguments), ""])


def starter(title: str, arguments: Sequence[Argument]) -> str:
    """Returns the text that the editor begins with, which compiles and does nothing yet."""
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
    headers = dict.fromkeys(_header(_base_name(argument.c_type)) for argument in arguments)
    return [f"#include {header}" for header in ("<cuda_runtime.h>", *headers) if header]


def _header(base: str) -> str:
    return C_VECTORS[base][2] if base in C_VECTORS else C_NAMES[base][1]


def _base_name(c_type: str) -> str:
    return c_type.strip().removeprefix("const ").removesuffix("*").strip()
