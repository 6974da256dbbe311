"""The video instructions of one result, by the manual's formulas over Python's integers."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.unit.emulator.scalar.integer import COMPARISONS, clamp, low, number, signed
from tests.unit.emulator.scalar.text import Instruction, Operand, Type

_OPERAND = re.compile(r"(-?)(%?\w+)(?:\.([bh])([0-3]))?$")
WORD = Type("u", 32)
OPCODES = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr", "vmad")


def register(operand: Operand) -> str:
    """The register of an operand, without sign and part."""
    return _found(operand)[2]


def _found(operand: Operand) -> re.Match[str]:
    assert isinstance(operand, str)
    found = _OPERAND.match(operand)
    assert found is not None, operand
    return found


def _part(operand: Operand) -> tuple[int, int]:
    """(bits, the place of the lowest) of the part that an operand names."""
    found = _found(operand)
    if found[3] is None:
        return 32, 0
    bits = 8 if found[3] == "b" else 16
    return bits, bits * int(found[4])


def evaluate(i: Instruction, value: Callable[[str], int]) -> int:
    """``value`` gives a register's bits. Returns those of the destination."""
    to = WORD if i.opcode == "vset" else i.types[0]
    numbers = []
    for operand, type_ in zip(i.operands[1:3], i.types[-2:], strict=True):
        bits, at = _part(operand)
        numbers.append(number(low(value(register(operand)) >> at, bits), Type(type_.kind, bits)))
    third = value(register(i.operands[3])) if len(i.operands) > 3 else 0
    if i.opcode == "vmad":
        return _multiply_add(i, numbers, third)
    a, b = numbers
    match i.opcode:
        case "vadd":
            result = a + b
        case "vsub":
            result = a - b
        case "vabsdiff":
            result = abs(a - b)
        case "vmin":
            result = min(a, b)
        case "vmax":
            result = max(a, b)
        case "vset":
            name = i.one_of("eq", "ne", "lt", "le", "gt", "ge")
            assert name is not None
            result = int(COMPARISONS[name](a, b))
        case _:
            count = min(b, 32) if i.has("clamp") else b % 32
            result = a << count if i.opcode == "vshl" else a >> count
    bits, at = _part(i.operands[0])
    if i.has("sat"):
        result = clamp(result, Type(to.kind, bits))
    other = number(third, to)
    match i.one_of("add", "min", "max"):
        case "add":
            result += other
        case "min":
            result = min(result, other)
        case "max":
            result = max(result, other)
    if bits < 32:
        mask = (1 << bits) - 1 << at
        result = result << at & mask | third & ~mask
    return low(result, 32)


def _multiply_add(i: Instruction, numbers: list[int], third: int) -> int:
    signs = [_found(operand)[1] == "-" for operand in i.operands[1:]]
    negates_product = signs[0] != signs[1]
    is_signed = negates_product or signs[2] or any(t.kind == "s" for t in i.types[1:])
    result = -numbers[0] * numbers[1] if negates_product else numbers[0] * numbers[1]
    if signs[2]:
        result += signed(~third, 32) + 1
    else:
        result += signed(third, 32) if is_signed else third
    result += i.has("po")
    result >>= 7 if i.has("shr7") else 15 if i.has("shr15") else 0
    if i.has("sat"):
        kind = "s" if is_signed else "u"
        result = clamp(number(result, Type(kind, 64)), Type(kind, 32))
    return low(result, 32)
