"""Floating-point instructions: exact rational arithmetic, rounded once; bounds for the approximate ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.unit.emulator.jit import ieee
from tests.unit.emulator.jit.ieee import FORMATS, Format, Number
from tests.unit.emulator.scalar.integer import COMPARISONS, number
from tests.unit.emulator.scalar.text import Instruction, Type


@dataclass(frozen=True, slots=True)
class Near:
    """An approximate result: ``value``, off by at most ``error``; exactly ``value`` where that is infinite or NaN."""

    value: float
    error: float


Result = int | Near | tuple[Near, ...]  # a tuple: the halves of a packed value, the lower one first
ONE = Fraction(1)


def format_of(type_: Type) -> Format:
    return FORMATS[f"{type_.kind}{type_.bits}"]


#: What lies below it is below 2^-14 with 11 significant bits; an H200 goes by that.
_TINY_HALF = 2.0**-14 - 2.0**-26


def is_nan(value: Number) -> bool:
    return isinstance(value, float) and math.isnan(value)


def is_infinite(bits: int, form: Format) -> bool:
    return bits & (1 << (form.bits - 1)) - 1 == (form.most - form.least + 2) << form.mantissa


def flush(bits: int, type_: Type) -> int:
    """``.ftz``: a denormal becomes a zero of its sign."""
    form = format_of(type_)
    exponent = bits >> form.mantissa & ((1 << (form.bits - 1 - form.mantissa)) - 1)
    return bits if exponent else bits & 1 << (form.bits - 1)


def saturate(value: Number) -> Number:
    """``.sat``: to [+0, 1], NaN to +0."""
    if is_nan(value) or value <= 0:
        return 0.0
    return min(value, ONE)


def rounding(i: Instruction) -> str:
    return i.one_of("rn", "rz", "rm", "rp") or "rn"


def finish(i: Instruction, value: Number, type_: Type, mode: str = "rn") -> int:
    """Saturated, rounded, flushed."""
    if i.has("sat"):
        value = saturate(value)
    if i.has("relu") and not is_nan(value) and value <= 0:
        value = 0.0  # of either sign
    bits = ieee.encode(value, format_of(type_), mode)
    if i.has("satfinite") and is_infinite(bits, format_of(type_)):
        bits -= 1
    # Conversions flush f32 only.
    if not i.has("ftz") or (i.opcode == "cvt" and type_.bits != 32):
        return bits
    if type_.bits == 16 and not is_nan(value) and abs(value) < _TINY_HALF:
        bits &= 1 << 15
    return flush(bits, type_)


def _extreme(a: int, b: int, type_: Type, *, largest: bool, keep_nan: bool) -> int:
    form = format_of(type_)
    x, y = ieee.decode(a, form), ieee.decode(b, form)
    if is_nan(x) or is_nan(y):
        if keep_nan or (is_nan(x) and is_nan(y)):
            return ieee.encode(math.nan, form)
        return b if is_nan(x) else a
    if x == y:  # zeros: -0 is less than +0
        return a & b if largest else a | b
    return a if (x > y) == largest else b


def scalar(i: Instruction, bits: Sequence[int], type_: Type) -> int | Near:
    """One value of ``type_``: the whole operand, or half of a packed one."""
    form = format_of(type_)
    bits = [b & (1 << type_.bits) - 1 for b in bits]
    if i.has("ftz"):
        bits = [flush(b, type_) for b in bits]
    top = 1 << (form.bits - 1)
    if i.opcode == "neg":
        return bits[0] ^ top
    if i.opcode == "abs":
        return bits[0] & ~top
    if i.opcode in ("min", "max"):
        return _extreme(bits[0], bits[1], type_, largest=i.opcode == "max", keep_nan=i.has("NaN"))
    if i.opcode == "copysign":
        return bits[0] & top | bits[1] & ~top
    v = [ieee.decode(b, form) for b in bits]
    if i.has("approx") or i.has("full"):
        return approximate(i, v, type_)
    mode = rounding(i)
    match i.opcode:
        case "add":
            result = ieee.add(v[0], v[1], mode)
        case "sub":
            result = ieee.add(v[0], ieee.negate(v[1]), mode)
        case "mul":
            result = ieee.multiply(v[0], v[1])
        case "fma" | "mad":
            result = ieee.fma(v[0], v[1], v[2], mode)
        case "div":
            result = ieee.divide(v[0], v[1])
        case "rcp":
            result = ieee.divide(ONE, v[0])
        case _:
            assert i.opcode == "sqrt", i
            result = ieee.root(v[0])
    return finish(i, result, type_, mode)


def arithmetic(i: Instruction, bits: Sequence[int]) -> Result:
    if i.type.lanes == 1:
        return scalar(i, bits, i.type)
    part = i.type.part
    halves = [scalar(i, [b >> part.bits * n for b in bits], part) for n in range(2)]
    low, high = halves
    if isinstance(low, Near) or isinstance(high, Near):
        return tuple(half for half in halves if isinstance(half, Near))
    return low | high << part.bits


# ---------------------------------------------------------------------------------------------- approximate functions
def _power(a: float) -> float:
    return math.inf if a >= 1024 else 2.0**a


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "ex2": _power,
    "lg2": lambda a: -math.inf if a == 0 else math.nan if a < 0 else math.log2(a),
    "sin": lambda a: math.nan if math.isinf(a) else math.sin(a),
    "cos": lambda a: math.nan if math.isinf(a) else math.cos(a),
    "tanh": math.tanh,
    "rcp": lambda a: math.copysign(math.inf, a) if a == 0 else 1 / a,
    "sqrt": lambda a: a if a == 0 else math.nan if a < 0 else math.sqrt(a),
    "rsqrt": lambda a: math.copysign(math.inf, a) if a == 0 else math.nan if a < 0 else 1 / math.sqrt(a),
}


def _quotient(i: Instruction, a: float, b: float) -> Near:
    exact = _float(ieee.divide(_number(a), _number(b)))
    if i.has("approx") and 2.0**126 < abs(b) < math.inf:
        # Beyond its range the divisor's reciprocal is a denormal, and taken for zero.
        return Near(math.nan if math.isinf(a) or math.isnan(a) else math.copysign(0.0, exact), 0.0)
    return Near(exact, 2 * _ulp(exact))


def _number(a: float) -> Number:
    return a if math.isinf(a) or math.isnan(a) or a == 0 else Fraction(a)


def _float(value: Number) -> float:
    """To a double, or an infinity where that is too small."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _ulp(value: float) -> float:
    """Of f32."""
    return 2.0 ** (max(math.frexp(value)[1], -125) - 24) if math.isfinite(value) else 0.0


def _error(name: str, type_: Type, a: float, value: float) -> float:
    """The manual's bounds. ``inf``: it gives none."""
    if not math.isfinite(value):
        return 0.0
    if type_.bits == 16:
        return {"ex2": 2.0**-9.9 * abs(value), "tanh": 2.0**-10.987}[name] + 2.0**-25
    if type_.bits == 64:
        return 2.0**-20 * abs(value)
    match name:
        case "ex2":
            return 2.0**-22 * value
        case "lg2":
            return 2.0**-22 * (1 if 0.5 < a < 2 else abs(value))
        case "sin" | "cos":
            return 2.0**-20.5 if abs(a) <= math.pi else 2.0**-14.7 if abs(a) <= 100 * math.pi else math.inf
        case "rcp":
            return _ulp(value)
        case "sqrt":
            return 2.0**-23 * value
        case "rsqrt":
            return 2.0**-22.9 * value
    return 2.0**-11 * abs(value)


def approximate(i: Instruction, v: Sequence[Number], type_: Type) -> Near:
    """Results below the least normal number may come as zero or as a denormal."""
    values = [_float(x) for x in v]
    if any(math.isnan(x) for x in values):
        return Near(math.nan, 0.0)
    if i.opcode == "div":
        near = _quotient(i, *values)
    else:
        exact = FUNCTIONS[i.opcode](values[0])
        near = Near(exact, _error(i.opcode, type_, values[0], exact))
    form = format_of(type_)
    if abs(near.value) >= 2.0**form.most * (2 - 2.0**-form.precision):
        return Near(math.copysign(math.inf, near.value), 0.0)
    least = 2.0**form.least
    if 0 < abs(near.value) < least * (1 + 2.0**-20):
        return Near(near.value, max(near.error, abs(near.value) if i.has("ftz") else 2.0**-149))
    return near


# --------------------------------------------------------------------------------------------------------- comparisons
def compare(i: Instruction, name: str, a: int, b: int, type_: Type) -> bool:
    if not type_.is_float:
        return COMPARISONS[name](number(a, type_), number(b, type_))
    mask = (1 << type_.bits) - 1
    x, y = (ieee.decode(flush(v & mask, type_) if i.has("ftz") else v & mask, format_of(type_)) for v in (a, b))
    unordered = is_nan(x) or is_nan(y)
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    return name.endswith("u") if unordered else COMPARISONS[name.removesuffix("u")](x, y)  # type: ignore[arg-type]


def test_property(i: Instruction, bits: Sequence[int]) -> int:
    form = format_of(i.type)
    value = ieee.decode(bits[0], form)
    subnormal = isinstance(value, Fraction) and abs(value) < Fraction(2) ** form.least
    return int(
        {
            "finite": isinstance(value, Fraction) or math.isfinite(value),
            "infinite": isinstance(value, float) and math.isinf(value),
            "number": not is_nan(value),
            "notanumber": is_nan(value),
            "normal": math.isfinite(value) and not subnormal,  # zero is
            "subnormal": subnormal,
        }[i.modifiers[0]]
    )
