"""``cvt`` between all types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tests.unit.emulator.jit import ieee
from tests.unit.emulator.jit.ieee import Number
from tests.unit.emulator.scalar.floating import finish, flush, format_of, is_nan, rounding
from tests.unit.emulator.scalar.integer import clamp, low, number
from tests.unit.emulator.scalar.text import Instruction, Type

WHOLE = ("rni", "rzi", "rmi", "rpi")


def to_whole(value: Number, mode: str) -> Number:
    if isinstance(value, float):
        return value
    whole = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode](value)
    return Fraction(whole) if whole else math.copysign(0.0, value)


def convert(i: Instruction, bits: Sequence[int]) -> int:
    if i.has("pack"):
        return pack(i, bits)
    to, source = i.types
    if to.lanes == 2:  # the first operand is the upper half
        halves = [finish(i, ieee.decode(b, format_of(source)), to.part, rounding(i)) for b in reversed(bits)]
        return halves[0] | halves[1] << to.part.bits
    if to.kind == "tf":
        result = to_tf32(bits[0])
        overflows = i.has("satfinite") and result & 0x7FFFFFFF == 0x7F800000
        return result - 0x2000 if overflows else result
    if not source.is_float:
        value = number(bits[0], source)
        if to.is_float:
            return finish(i, Fraction(value) if value else 0.0, to, rounding(i))
        return low(clamp(value, to) if i.has("sat") else value, to.bits)
    pattern = low(bits[0], source.bits)
    if i.has("ftz") and source.bits == 32 and to != Type("f", 16):  # on its way to f16, hardware keeps a denormal
        pattern = flush(pattern, source)
    exact = ieee.decode(pattern, format_of(source))
    whole = i.one_of(*WHOLE)
    if whole is not None:
        exact = to_whole(exact, whole)
    if to.is_float:
        return finish(i, exact, to, rounding(i))
    return _to_integer(exact, to, source)


def _to_integer(value: Number, to: Type, source: Type) -> int:
    """Clamped. NaN: 0, but the top bit alone where source or target has 64 bits."""
    if is_nan(value):
        return 1 << (to.bits - 1) if 64 in (to.bits, source.bits) else 0
    if isinstance(value, float) and math.isinf(value):
        value = Fraction(1 << 200) * (1 if value > 0 else -1)
    return low(clamp(int(value), to), to.bits)


def pack(i: Instruction, bits: Sequence[int]) -> int:
    """The first in the upper of two parts, what fits of the third above them."""
    to, source = i.types[:2]
    high, part = (low(clamp(number(b, source), to), to.bits) for b in bits[:2])
    above = bits[2] << 2 * to.bits if len(bits) > 2 else 0
    return low(above | high << to.bits | part, 32)


def to_tf32(bits: int) -> int:
    """``rna``: ten bits of mantissa, ties away from zero."""
    magnitude = bits & 0x7FFFFFFF
    if magnitude > 0x7F800000:
        return 0x7FFFFFFF
    if magnitude == 0x7F800000:
        return bits
    return bits & 0x80000000 | (magnitude + 0x1000) & 0x7FFFE000
