"""The element types that arguments of ``solve`` may have: one row a type, for both sides of the jail's wall.

NumPy and ctypes types are given by their names, so that the runner, which imports this, needs neither for it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass


class Element(enum.IntEnum):
    """One element type. Its number crosses the wall and is the same in ``judge/native/sources`` and
    ``judge/gpu/kernels/inputs.cuh``; ``facts`` is its row."""

    INT8 = 0
    UINT8 = 1
    INT16 = 2
    UINT16 = 3
    INT32 = 4
    UINT32 = 5
    INT64 = 6
    UINT64 = 7
    FLOAT16 = 8
    FLOAT32 = 9
    FLOAT64 = 10

    @property
    def facts(self) -> ElementFacts:
        return ELEMENTS[self]


@dataclass(frozen=True, slots=True)
class ElementFacts:
    """What everyone has to know of an element type.

    ``numpy_name`` is the NumPy type that holds it, ``ctypes_name`` the ctypes type by which it is passed by value (None
    where it cannot be), ``c_names`` maps each of its names in C to the header that declares it (empty: none does).
    ``is_float`` types are drawn from continuous distributions and compared within a bound; others are compared exactly.
    """

    size_bytes: int
    is_float: bool
    numpy_name: str
    ctypes_name: str | None
    c_names: Mapping[str, str]


_STDINT = "<cstdint>"
_FP16 = "<cuda_fp16.h>"

ELEMENTS: dict[Element, ElementFacts] = {
    Element.INT8: ElementFacts(1, False, "int8", "c_int8", {"int8_t": _STDINT, "signed char": "", "char": ""}),
    Element.UINT8: ElementFacts(1, False, "uint8", "c_uint8", {"uint8_t": _STDINT, "unsigned char": ""}),
    Element.INT16: ElementFacts(2, False, "int16", "c_int16", {"int16_t": _STDINT, "short": ""}),
    Element.UINT16: ElementFacts(2, False, "uint16", "c_uint16", {"uint16_t": _STDINT, "unsigned short": ""}),
    Element.INT32: ElementFacts(4, False, "int32", "c_int32", {"int": "", "int32_t": _STDINT}),
    Element.UINT32: ElementFacts(
        4, False, "uint32", "c_uint32", {"unsigned int": "", "unsigned": "", "uint32_t": _STDINT}
    ),
    Element.INT64: ElementFacts(8, False, "int64", "c_int64", {"int64_t": _STDINT, "long long": "", "long": ""}),
    Element.UINT64: ElementFacts(
        8, False, "uint64", "c_uint64", {"uint64_t": _STDINT, "size_t": "", "unsigned long long": ""}
    ),
    Element.FLOAT16: ElementFacts(2, True, "float16", None, {"half": _FP16, "__half": _FP16}),
    Element.FLOAT32: ElementFacts(4, True, "float32", "c_float", {"float": ""}),
    Element.FLOAT64: ElementFacts(8, True, "float64", "c_double", {"double": ""}),
}

#: Each name in C, with its type and the header that declares it.
C_NAMES: dict[str, tuple[Element, str]] = {
    name: (element, header) for element, facts in ELEMENTS.items() for name, header in facts.c_names.items()
}

_BY_NUMPY_NAME = {facts.numpy_name: element for element, facts in ELEMENTS.items()}


def element_of_numpy(name: str) -> Element:
    """Returns the type that the NumPy type of this name holds. Raises KeyError."""
    return _BY_NUMPY_NAME[name]
