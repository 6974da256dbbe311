"""An exact reference for floating point: rational arithmetic, rounded once."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """``precision`` counts the hidden bit; ``least`` and ``most`` are exponents of normal numbers."""

    bits: int
    precision: int
    least: int
    most: int

    @property
    def mantissa(self) -> int:
        return self.precision - 1


F16 = Format(16, 11, -14, 15)
BF16 = Format(16, 8, -126, 127)
F32 = Format(32, 24, -126, 127)
F64 = Format(64, 53, -1022, 1023)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}

Number = Fraction | float  # a Fraction, or inf, nan, or a signed zero as a float


@functools.lru_cache(maxsize=1 << 14)
def decode(bits: int, form: Format) -> Number:
    sign = -1 if bits >> (form.bits - 1) else 1
    exponent = bits >> form.mantissa & ((1 << (form.bits - 1 - form.mantissa)) - 1)
    fraction = bits & ((1 << form.mantissa) - 1)
    if exponent == form.most - form.least + 2:
        return math.nan if fraction else sign * math.inf
    if not exponent and not fraction:
        return sign * 0.0
    if exponent:
        fraction += 1 << form.mantissa
    scale = max(exponent, 1) + form.least - 1 - form.mantissa
    return Fraction(sign * fraction << max(scale, 0), 1 << max(-scale, 0))


def encode(value: Number, form: Format, mode: str = "rn") -> int:
    """Bits; NaN is the format's canonical one, which tests compare as "any NaN"."""
    infinity = (form.most - form.least + 2) << form.mantissa
    if isinstance(value, float):
        top = (1 << (form.bits - 1)) if math.copysign(1, value) < 0 else 0
        if math.isnan(value):
            return infinity | (1 << form.mantissa) - 1
        return top | (infinity if math.isinf(value) else 0)
    if not value:
        return 0
    negative = value < 0
    above, below = abs(value.numerator), value.denominator
    exponent = above.bit_length() - below.bit_length()
    if below << max(exponent, 0) > above << max(-exponent, 0):
        exponent -= 1
    scale = max(exponent, form.least) - form.mantissa  # of the last bit
    below <<= max(scale, 0)
    whole, rest = divmod(above << max(-scale, 0), below)
    if mode == "rn":
        whole += 2 * rest > below or (2 * rest == below and whole % 2 == 1)
    elif (mode == "rm" and negative) or (mode == "rp" and not negative):
        whole += rest > 0
    bits = whole + ((max(exponent, form.least) - form.least) << form.mantissa)
    if bits >= infinity:
        away = mode == "rn" or (mode == "rm" and negative) or (mode == "rp" and not negative)
        bits = infinity if away else infinity - 1
    return bits | ((1 << (form.bits - 1)) if negative else 0)


def _special(*values: Number) -> list[float]:
    """As doubles that behave like the operands: infinities, NaN, zeros, and ±1 for the rest."""
    return [v if isinstance(v, float) else 1.0 if v > 0 else -1.0 for v in values]


def _zero(*signs: Number, mode: str) -> float:
    """An exact zero sum: -0 if all terms were -0, or when rounding down."""
    if all(isinstance(s, float) and math.copysign(1, s) < 0 for s in signs):
        return -0.0
    return -0.0 if mode == "rm" and not all(isinstance(s, float) and math.copysign(1, s) > 0 for s in signs) else 0.0


def add(a: Number, b: Number, mode: str = "rn") -> Number:
    if any(isinstance(v, float) and (math.isnan(v) or math.isinf(v)) for v in (a, b)):
        x, y = _special(a, b)
        return x + y
    total = Fraction(a) + Fraction(b)
    return total if total else _zero(a, b, mode=mode)


def negate(a: Number) -> Number:
    return -a


def multiply(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        x, y = _special(a, b)
        return x * y
    return a * b


def fma(a: Number, b: Number, c: Number, mode: str = "rn") -> Number:
    return add(multiply(a, b), c, mode)


def divide(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        x, y = _special(a, b)
        if y == 0:
            return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1, y)
        return x / y
    return a / b


def root(a: Number) -> Number:
    """To 200 bits, with a last bit that says whether it is exact: enough for one rounding in any format."""
    if isinstance(a, float):
        return math.sqrt(a) if a >= 0 or a == 0 else math.nan
    if a < 0:
        return math.nan
    scale = 1 << 1400
    numerator = a.numerator * scale * scale
    whole = math.isqrt(numerator // a.denominator)
    exact = whole * whole * a.denominator == numerator
    return Fraction(2 * whole + (0 if exact else 1), 2 * scale)
