"""The text that the editor begins with in CUDA C++, generated from the arguments of ``solve``."""

from __future__ import annotations

from collections.abc import Sequence

from judge.compile.challenge import Parameter
from judge.wire.elements import C_NAMES, C_VECTORS

ACCESS = {"in": "read", "out": "write", "inout": "read and write"}


def starter(title: str, arguments: Sequence[Parameter], signature: str) -> str:
    """Returns a source that compiles and does nothing yet."""
    return "\n".join(
        [*described(title, arguments, "//"), "", *includes(arguments), "", f'extern "C" {signature} {{', "}", ""]
    )


def described(title: str, arguments: Sequence[Parameter], comment: str) -> list[str]:
    """Returns the lines of comment that say what each argument is."""
    width = max(len(argument.name) for argument in arguments)
    lines = [f"{comment} {title}"]
    for argument in arguments:
        kind = argument.c_type
        if argument.is_pointer:
            extents = " x ".join(extent.text for extent in argument.shape)
            kind = f"device, {ACCESS[argument.role]} [{extents}]"
        more = f", {argument.description}" if argument.description else ""
        lines.append(f"{comment}   {argument.name:<{width}}  {kind}{more}")
    return lines


def includes(arguments: Sequence[Parameter]) -> list[str]:
    """Returns the headers that the types of the arguments need."""
    headers = dict.fromkeys(_header(base_name(argument.c_type)) for argument in arguments)
    return [f"#include {header}" for header in ("<cuda_runtime.h>", *headers) if header]


def base_name(c_type: str) -> str:
    """Returns a type without ``const`` and ``*``."""
    return c_type.strip().removeprefix("const ").removesuffix("*").strip()


def _header(base: str) -> str:
    return C_VECTORS[base][2] if base in C_VECTORS else C_NAMES[base][1]
