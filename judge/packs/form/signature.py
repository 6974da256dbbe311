"""The signature of ``solve`` and what is generated from it: the prototype and ``solve.h``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from judge.compile.starter import base_name, includes
from judge.packs.form.argument import Argument
from judge.wire.elements import C_NAMES, C_VECTORS, Element

_EXTERN = re.compile(r'\s*(?:extern\s*"C"\s*)?')
_OPENING = (("void", re.compile(r"void\b\s*")), ("solve", re.compile(r"solve\b\s*")), ("(", re.compile(r"\(")))
_END = re.compile(r"\)\s*;?\s*")
_FORM = "it must have the form: void solve(const float* input, float* output, int N)"
_ARGUMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_ ]*?)(?: ?(\*) ?| )([A-Za-z][A-Za-z0-9_]*)")


class CType(NamedTuple):
    """A type of the argument list, taken apart. ``lanes`` is above 1 for the vectors of CUDA, such as float4."""

    element: Element
    is_pointer: bool
    is_const: bool
    lanes: int = 1


class Declared(NamedTuple):
    """An argument as the signature declares it."""

    c_type: str
    name: str
    parsed: CType


class SignatureError(ValueError):
    """A text is not a signature of ``solve``. ``at`` is the index of the first wrong character."""

    def __init__(self, message: str, at: int) -> None:
        self.at = at
        super().__init__(f"{message} (at character {at + 1})")


def parse_c_type(c_type: str) -> CType:
    """Parses a type such as ``const float*``. Raises ValueError for one that is not known."""
    words = c_type.strip()
    base = base_name(words)
    is_pointer, is_const = words.endswith("*"), words.startswith("const ")
    if base in C_VECTORS and is_pointer:
        element, lanes, _ = C_VECTORS[base]
        return CType(element, is_pointer, is_const, lanes)
    if base not in C_NAMES:
        known = ", ".join(C_NAMES)
        raise ValueError(f"unknown type '{c_type}': known are {known}, with * and const for pointers, and float4* etc.")
    return CType(C_NAMES[base][0], is_pointer, is_const)


def parse_signature(text: str) -> tuple[Declared, ...]:
    """Returns the arguments of ``void solve(const float* A, ..., int N)``, in order.

    Spaces do not matter. Raises SignatureError for a text of another form, an unknown type, a scalar that has no value
    in C++ without CUDA's headers, and a name that is used twice.
    """
    first, end = _opening(text), text.rfind(")")
    if end < first:
        raise SignatureError(f"')' is missing; {_FORM}", len(text.rstrip()))
    if not _END.fullmatch(text, end):
        raise SignatureError(f"nothing but ';' may follow ')'; {_FORM}", end + 1)
    arguments: list[Declared] = []
    for part in text[first:end].split(","):
        arguments.append(_argument(part, first))
        if arguments[-1].name in {argument.name for argument in arguments[:-1]}:
            name = arguments[-1].name
            raise SignatureError(f"the name '{name}' is used twice", first + part.rindex(name))
        first += len(part) + 1
    return tuple(arguments)


def _opening(text: str) -> int:
    """Returns the index after ``void solve(``."""
    match = _EXTERN.match(text)
    at = match.end() if match else 0
    for word, pattern in _OPENING:
        match = pattern.match(text, at)
        if match is None:
            raise SignatureError(f"'{word}' is missing; {_FORM}", at)
        at = match.end()
    return at


def _argument(part: str, first: int) -> Declared:
    """Returns the declaration between two commas; ``first`` is its index."""
    at = first + len(part) - len(part.lstrip())
    found = _ARGUMENT.fullmatch(" ".join(part.split()))
    if found is None:
        raise SignatureError(f"'{part.strip()}' must be a type and a name, as in const float* input", at)
    base, star, name = found.groups()
    c_type = f"{base.strip()}{'*' if star else ''}"
    try:
        parsed = parse_c_type(c_type)
    except ValueError as error:
        raise SignatureError(str(error), at) from None
    if not parsed.is_pointer and parsed.element.facts.ctypes_name is None:
        raise SignatureError(f"'{c_type} {name}' cannot be passed by value; pass a float", at)
    return Declared(c_type, name, parsed)


def signature_text(arguments: Sequence[Argument]) -> str:
    """Returns ``void solve(const float* A, ..., int N)``."""
    return f"void solve({', '.join(f'{argument.c_type} {argument.name}' for argument in arguments)})"


def prototype(arguments: Sequence[Argument]) -> str:
    """Returns ``extern "C" void solve(...);``."""
    return f'extern "C" {signature_text(arguments)};'


def header(arguments: Sequence[Argument]) -> str:
    """Returns the text of ``solve.h``: the headers that the signature needs, and the prototype."""
    return "\n".join(["#pragma once", "", *includes(arguments), "", prototype(arguments), ""])
