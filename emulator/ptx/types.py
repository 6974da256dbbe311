"""The table of PTX's fundamental types, by their names in modifiers (``s32``, ``f16x2``)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from records import dataclass


class Kind(Enum):
    """How the bits of an element are read."""

    UNSIGNED = auto()
    SIGNED = auto()
    BITS = auto()
    FLOAT = auto()  # IEEE 754
    BFLOAT = auto()  # bfloat16
    TFLOAT = auto()  # tf32
    E4M3 = auto()
    E5M2 = auto()
    PREDICATE = auto()


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A type of PTX. ``bits`` is the width of all ``lanes`` elements together; ``lanes`` is 2 for packed types.

    ``register`` is the LLVM type of a register that holds it. ``pipe`` is the class of its arithmetic in a profile and
    ``flop_type`` the class of its operations, ``tensor_type`` that of matrix products of it; empty where there is none.
    ``fragment_code`` (native fragment.h) and ``atomic_code`` (native semantics.h) name it to the library's helpers;
    None where the helpers do not know it.
    """

    name: str
    kind: Kind
    bits: int
    lanes: int
    register: str
    pipe: str = ""
    flop_type: str = ""
    tensor_type: str = ""
    fragment_code: int | None = None
    atomic_code: int | None = None

    @property
    def size_bytes(self) -> int:
        """The size in memory."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        """Whether arithmetic on it is floating-point arithmetic."""
        return self.kind in (Kind.FLOAT, Kind.BFLOAT)

    @property
    def is_half(self) -> bool:
        """Whether its elements are f16 or bf16."""
        return self.is_float and self.bits // self.lanes == 16

    @property
    def is_integer(self) -> bool:
        """Whether arithmetic on it is integer arithmetic."""
        return self.kind in (Kind.UNSIGNED, Kind.SIGNED, Kind.BITS)

    @property
    def is_signed(self) -> bool:
        """Whether its elements are signed integers."""
        return self.kind is Kind.SIGNED

    @property
    def is_predicate(self) -> bool:
        """Whether it is ``pred``."""
        return self.kind is Kind.PREDICATE

    @property
    def element(self) -> ScalarType:
        """The type of one element."""
        return self if self.lanes == 1 else TYPES[self.name.removesuffix("x2")]


_U, _S, _B, _F, _BF = Kind.UNSIGNED, Kind.SIGNED, Kind.BITS, Kind.FLOAT, Kind.BFLOAT

# fmt: off
_ROWS = (
    #          name      kind            bits lanes register  pipe    flop_type tensor_type    fragment atomic
    ScalarType("pred",   Kind.PREDICATE, 1,   1,    "i1"),
    ScalarType("b1",     _B,             1,   1,    "i1",     "",     "",       "tensor_b1",   8,       None),
    ScalarType("b8",     _B,             8,   1,    "i8"),
    ScalarType("b16",    _B,             16,  1,    "i16",    "",     "",       "",            None,    10),
    ScalarType("b32",    _B,             32,  1,    "i32",    "",     "",       "",            None,    0),
    ScalarType("b64",    _B,             64,  1,    "i64",    "",     "",       "",            None,    3),
    ScalarType("b128",   _B,             128, 1,    "i128"),
    ScalarType("u4",     _U,             4,   1,    "i4",     "",     "",       "tensor_int4", 7,       None),
    ScalarType("u8",     _U,             8,   1,    "i8",     "",     "",       "tensor_int8", 5,       None),
    ScalarType("u16",    _U,             16,  1,    "i16",    "",     "",       "",            None,    10),
    ScalarType("u32",    _U,             32,  1,    "i32",    "",     "",       "",            None,    0),
    ScalarType("u64",    _U,             64,  1,    "i64",    "",     "",       "",            None,    3),
    ScalarType("u16x2",  _U,             32,  2,    "i32"),
    ScalarType("s4",     _S,             4,   1,    "i4",     "",     "",       "tensor_int4", 6,       None),
    ScalarType("s8",     _S,             8,   1,    "i8",     "",     "",       "tensor_int8", 4,       None),
    ScalarType("s16",    _S,             16,  1,    "i16"),
    ScalarType("s32",    _S,             32,  1,    "i32",    "",     "",       "",            10,      1),
    ScalarType("s64",    _S,             64,  1,    "i64",    "",     "",       "",            None,    4),
    ScalarType("s16x2",  _S,             32,  2,    "i32"),
    ScalarType("f16",    _F,             16,  1,    "i16",    "fp16", "fp16",   "tensor_f16",  0,       6),
    ScalarType("f32",    _F,             32,  1,    "float",  "fp32", "fp32",   "",            9,       2),
    ScalarType("f64",    _F,             64,  1,    "double", "fp64", "fp64",   "tensor_f64",  3,       5),
    ScalarType("f16x2",  _F,             32,  2,    "i32",    "fp16", "fp16",   "",            None,    8),
    ScalarType("bf16",   _BF,            16,  1,    "i16",    "fp16", "bf16",   "tensor_bf16", 1,       7),
    ScalarType("bf16x2", _BF,            32,  2,    "i32",    "fp16", "bf16",   "",            None,    9),
    ScalarType("tf32",   Kind.TFLOAT,    32,  1,    "i32",    "",     "",       "tensor_tf32", 2,       None),
    ScalarType("e4m3",   Kind.E4M3,      8,   1,    "i8",     "",     "",       "tensor_int8"),
    ScalarType("e5m2",   Kind.E5M2,      8,   1,    "i8",     "",     "",       "tensor_int8"),
    ScalarType("e4m3x2", Kind.E4M3,      16,  2,    "i16"),
    ScalarType("e5m2x2", Kind.E5M2,      16,  2,    "i16"),
)
# fmt: on

TYPES: Mapping[str, ScalarType] = {row.name: row for row in _ROWS}


def untyped(bits: int) -> ScalarType:
    """Returns the type of ``bits`` bits without a meaning. Raises ``KeyError`` where PTX has none."""
    return TYPES[f"b{bits}"]
