"""Integer, logic, bit and comparison instructions. Operands and results are bits (non-negative integers)."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence

from tests.unit.emulator.scalar.text import Instruction, Type

Semantics = Callable[[Instruction, Sequence[int]], int]
WORD = 0xFFFFFFFF


def low(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def signed(value: int, bits: int) -> int:
    value = low(value, bits)
    return value - (1 << bits) if value >> (bits - 1) else value


def number(bits: int, type_: Type) -> int:
    """The integer that ``bits`` stand for."""
    return signed(bits, type_.bits) if type_.kind == "s" else low(bits, type_.bits)


def limits(type_: Type) -> tuple[int, int]:
    if type_.kind == "s":
        return -(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1
    return 0, (1 << type_.bits) - 1


def clamp(value: int, type_: Type) -> int:
    least, most = limits(type_)
    return min(max(value, least), most)


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def arithmetic(i: Instruction, bits: Sequence[int]) -> int:
    """All whose operands and result are of one type (or twice as wide)."""
    type_ = i.type
    v = [number(b, type_) for b in bits]
    match i.opcode:
        case "add":
            result = v[0] + v[1]
        case "sub":
            result = v[0] - v[1]
        case "mul" | "mad":
            result = v[0] * v[1]
            if i.has("hi"):
                result >>= type_.bits
            if i.opcode == "mad":
                result += number(bits[2], Type(type_.kind, 2 * type_.bits)) if i.has("wide") else v[2]
        case "mul24" | "mad24":
            parts = [number(b, Type(type_.kind, 24)) for b in bits[:2]]
            result = parts[0] * parts[1]
            if i.has("hi"):
                result >>= 16
            result = number(result, type_)
            if i.opcode == "mad24":
                result += v[2]
        case "div":
            result = _divide(v[0], v[1]) if v[1] else -1  # by zero: what the hardware gives
        case "rem":
            result = v[0] - v[1] * _divide(v[0], v[1]) if v[1] else -1
        case "min":
            result = min(v)
        case "max":
            result = max(v)
        case "abs":
            result = abs(v[0])
        case "neg":
            result = -v[0]
        case _:
            assert i.opcode == "sad"
            result = abs(v[0] - v[1]) + v[2]
    if i.has("sat"):
        result = clamp(result, type_)
    return low(result, 2 * type_.bits if i.has("wide") else type_.bits)


def with_carry(i: Instruction, bits: Sequence[int], carry: int) -> tuple[int, int]:
    """Returns (result, carry out) of add, sub and mad, with ``.cc`` or as ``addc``, ``subc``, ``madc``.

    A subtraction adds the complement, and one, or what was carried.
    """
    type_ = i.type
    width = type_.bits
    incoming = carry if i.opcode.endswith("c") else 0
    if i.opcode.startswith("mad"):
        product = number(bits[0], type_) * number(bits[1], type_)
        total = low(product >> width if i.has("hi") else product, width) + low(bits[2], width) + incoming
    elif i.opcode.startswith("add"):
        total = low(bits[0], width) + low(bits[1], width) + incoming
    else:
        total = low(bits[0], width) + low(~bits[1], width) + (incoming if i.opcode.endswith("c") else 1)
    return low(total, width), total >> width & 1


def logic(i: Instruction, bits: Sequence[int]) -> int:
    width = i.type.bits
    a = low(bits[0], width)
    match i.opcode:
        case "not":
            return low(~a, width)
        case "cnot":
            return int(a == 0)
        case "and":
            return a & low(bits[1], width)
        case "or":
            return a | low(bits[1], width)
    return a ^ low(bits[1], width)


def lop3(_i: Instruction, bits: Sequence[int]) -> int:
    result = 0
    for row in range(8):
        if bits[3] >> row & 1:  # where a, b and c have the row's bits
            terms = (v if row >> (2 - n) & 1 else ~v for n, v in enumerate(bits[:3]))
            result |= functools.reduce(operator.and_, terms)
    return low(result, 32)


def shift(i: Instruction, bits: Sequence[int]) -> int:
    width, count = i.type.bits, min(low(bits[1], 32), i.type.bits)
    value = number(bits[0], i.type)
    return low(value << count if i.opcode == "shl" else value >> count, width)


def funnel(i: Instruction, bits: Sequence[int]) -> int:
    count = min(low(bits[2], 32), 32) if i.has("clamp") else bits[2] & 31
    both = low(bits[1], 32) << 32 | low(bits[0], 32)
    return low(both << count >> 32 if i.has("l") else both >> count, 32)


def count_bits(i: Instruction, bits: Sequence[int]) -> int:
    width, a = i.type.bits, low(bits[0], i.type.bits)
    match i.opcode:
        case "popc":
            return a.bit_count()
        case "clz":
            return width - a.bit_length()
        case "brev":
            return int(f"{a:0{width}b}"[::-1], 2)
    if i.type.kind == "s" and a >> (width - 1):
        a = low(~a, width)
    if not a:
        return WORD
    return width - a.bit_length() if i.has("shiftamt") else a.bit_length() - 1


def find_nth_set(_i: Instruction, bits: Sequence[int]) -> int:
    """The manual's loop: the |offset|-th set bit, counted from ``base`` upward or downward."""
    mask, base, offset = low(bits[0], 32), low(bits[1], 32), signed(bits[2], 32)
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else WORD
    position, count = base, 0
    step = 1 if offset > 0 else -1
    while 0 <= position < 32:
        count += mask >> position & 1
        if count == abs(offset):
            return position
        position += step
    return WORD


def field(i: Instruction, bits: Sequence[int]) -> int:
    width, a = i.type.bits, low(bits[0], i.type.bits)
    position, length = bits[1] & 255, bits[2] & 255
    is_signed = i.type.kind == "s"
    sign = a >> min(position + length - 1, width - 1) & 1 if is_signed and length else 0
    result = 0
    for n in range(width):
        bit = a >> (position + n) & 1 if n < length and position + n < width else sign
        result |= bit << n
    return result


def insert(i: Instruction, bits: Sequence[int]) -> int:
    position, length, result = bits[2] & 255, bits[3] & 255, low(bits[1], i.type.bits)
    for n in range(length):
        if position + n < i.type.bits:
            at = 1 << (position + n)
            result = result | at if bits[0] >> n & 1 else result & ~at
    return result


def extend(i: Instruction, bits: Sequence[int]) -> int:
    count = min(low(bits[1], 32), 32) if i.has("clamp") else bits[1] & 31
    if not count:
        return 0
    value = signed(bits[0], count) if i.type.kind == "s" else low(bits[0], count)
    return low(value, 32)


def mask(i: Instruction, bits: Sequence[int]) -> int:
    position, width = (v & 31 if i.has("wrap") else min(low(v, 32), 32) for v in bits[:2])
    return low(((1 << width) - 1) << position, 32)


def permute(i: Instruction, bits: Sequence[int]) -> int:
    both = low(bits[1], 32) << 32 | low(bits[0], 32)
    mode = i.one_of("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    s = bits[2] & 3
    chosen = {
        "f4e": [s, s + 1, s + 2, s + 3],
        "b4e": [s & 7, (s - 1) & 7, (s - 2) & 7, (s - 3) & 7],
        "rc8": [s] * 4,
        "ecl": [max(s, n) for n in range(4)],
        "ecr": [min(s, n) for n in range(4)],
        "rc16": [(s & 1) * 2, (s & 1) * 2 + 1] * 2,
        None: [bits[2] >> 4 * n & 15 for n in range(4)],
    }[mode]
    result = 0
    for n, nibble in enumerate(chosen):
        byte = both >> 8 * (nibble & 7) & 255
        if mode is None and nibble & 8:
            byte = 255 * (byte >> 7)
        result |= byte << 8 * n
    return result


def dot(i: Instruction, bits: Sequence[int]) -> int:
    kinds = [t.kind for t in i.types]
    total = bits[2]
    if i.opcode == "dp4a":
        for n in range(4):
            total += number(bits[0] >> 8 * n, Type(kinds[0], 8)) * number(bits[1] >> 8 * n, Type(kinds[1], 8))
    else:
        first = 2 if i.has("hi") else 0
        for n in range(2):
            part = number(bits[1] >> 8 * (first + n), Type(kinds[1], 8))
            total += number(bits[0] >> 16 * n, Type(kinds[0], 16)) * part
    return low(total, 32)


def absolute_differences(i: Instruction, bits: Sequence[int]) -> int:
    width = 32 // int(i.opcode[-1])
    kinds = [Type(t.kind, width) for t in i.types[1:]]
    found = [abs(number(bits[0] >> at, kinds[0]) - number(bits[1] >> at, kinds[1])) for at in range(0, 32, width)]
    if i.has("add"):
        return low(bits[2] + sum(found), 32)
    return sum(low(one, width) << width * n for n, one in enumerate(found))


COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lo": lambda a, b: a < b,
    "ls": lambda a, b: a <= b,
    "hi": lambda a, b: a > b,
    "hs": lambda a, b: a >= b,
}

SEMANTICS: dict[str, Semantics] = {
    **dict.fromkeys(
        ("add", "sub", "mul", "mad", "mul24", "mad24", "div", "rem", "min", "max", "abs", "neg", "sad"), arithmetic
    ),
    **dict.fromkeys(("and", "or", "xor", "not", "cnot"), logic),
    **dict.fromkeys(("popc", "clz", "brev", "bfind"), count_bits),
    **dict.fromkeys(("shl", "shr"), shift),
    **dict.fromkeys(("dp4a", "dp2a"), dot),
    **dict.fromkeys(("vabsdiff2", "vabsdiff4"), absolute_differences),
    "lop3": lop3,
    "shf": funnel,
    "fns": find_nth_set,
    "bfe": field,
    "bfi": insert,
    "szext": extend,
    "bmsk": mask,
    "prmt": permute,
}
