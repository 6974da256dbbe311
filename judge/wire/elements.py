"""The element types that arguments of ``solve`` may have: one row a type, for both sides of the jail's wall.

NumPy and ctypes types are given by their names, so that the runner, which imports this, needs neither for it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass


class Element(enum.IntEnum):
    """One element type.

    Its number crosses the wall and is the same in ``judge/native/sources`` and ``judge/gpu/kernels/inputs.cuh``;
    ``facts`` is its row.
    """

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
    BOOL = 11
    BFLOAT16 = 12
    FLOAT8_E4M3 = 13
    FLOAT8_E5M2 = 14

    @property
    def facts(self) -> ElementFacts:
        return ELEMENTS[self]


@dataclass(frozen=True, slots=True)
class ElementFacts:
    """The properties of an element type.

    ``numpy_name`` is the NumPy type that holds its bytes, ``ctypes_name`` the ctypes type by which it is passed by
    value (None where it cannot be), ``c_names`` maps each of its names in C to the header that declares it (empty: none
    does). ``is_float`` types are drawn from continuous distributions and compared within a bound; others are compared
    exactly. ``narrow`` tells the bits of a floating-point type that NumPy lacks.
    """

    size_bytes: int
    is_float: bool
    numpy_name: str
    ctypes_name: str | None
    c_names: Mapping[str, str]
    narrow: NarrowFloat | None = None


@dataclass(frozen=True, slots=True)
class NarrowFloat:
    """A layout of floating-point numbers: a sign, ``exponent_bits`` and ``mantissa_bits``.

    ``overflow`` is the code, without its sign, of what is too large when rounded, ``nan`` that of values that are not
    numbers; ``has_infinity`` types keep the largest exponent for the two.
    """

    exponent_bits: int
    mantissa_bits: int
    overflow: int
    nan: int
    has_infinity: bool

    @property
    def bias(self) -> int:
        """The bias of exponents."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def eps(self) -> float:
        """The spacing of the numbers from 1 on, named as NumPy names it."""
        return 2.0**-self.mantissa_bits

    @property
    def smallest_subnormal(self) -> float:
        """The spacing of the smallest numbers, named as NumPy names it."""
        return 2.0 ** (1 - self.bias - self.mantissa_bits)


_STDINT = "<cstdint>"
_FP16 = "<cuda_fp16.h>"
_BF16 = "<cuda_bf16.h>"
_FP8 = "<cuda_fp8.h>"

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
    Element.BOOL: ElementFacts(1, False, "uint8", "c_bool", {"bool": ""}),
    Element.BFLOAT16: ElementFacts(
        2, True, "uint16", None, {"__nv_bfloat16": _BF16, "nv_bfloat16": _BF16}, NarrowFloat(8, 7, 0x7F80, 0x7FC0, True)
    ),
    # As the constructors of CUDA's types do, both saturate.
    Element.FLOAT8_E4M3: ElementFacts(
        1, True, "uint8", None, {"__nv_fp8_e4m3": _FP8}, NarrowFloat(4, 3, 0x7E, 0x7F, False)
    ),
    Element.FLOAT8_E5M2: ElementFacts(
        1, True, "uint8", None, {"__nv_fp8_e5m2": _FP8}, NarrowFloat(5, 2, 0x7B, 0x7E, True)
    ),
}

#: Each name in C, with its type and the header that declares it.
C_NAMES: dict[str, tuple[Element, str]] = {
    name: (element, header) for element, facts in ELEMENTS.items() for name, header in facts.c_names.items()
}

#: The vectors of CUDA: a number after these names says how many elements.
_VECTORS = {
    "char": Element.INT8,
    "uchar": Element.UINT8,
    "short": Element.INT16,
    "ushort": Element.UINT16,
    "int": Element.INT32,
    "uint": Element.UINT32,
    "longlong": Element.INT64,
    "ulonglong": Element.UINT64,
    "float": Element.FLOAT32,
    "double": Element.FLOAT64,
}

#: Each name of a vector in C, with the type of its elements, their number and the header that declares it.
C_VECTORS: dict[str, tuple[Element, int, str]] = {
    **{f"{name}{lanes}": (element, lanes, "") for name, element in _VECTORS.items() for lanes in (2, 3, 4)},
    "half2": (Element.FLOAT16, 2, _FP16),
    "__half2": (Element.FLOAT16, 2, _FP16),
    "__nv_bfloat162": (Element.BFLOAT16, 2, _BF16),
}
