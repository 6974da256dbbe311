"""Logic, shifts and bit fields."""

from __future__ import annotations

from emulator.jit.builder import BITS, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Imm, Instruction, Pair


@emits("and", "or", "xor")
def logic(e: Emitter, i: Instruction) -> None:
    type_ = i.type.register
    e.write(i.operands[0], e.b.op(i.opcode, e.read(i.operands[1], type_), e.read(i.operands[2], type_)))


@emits("not", "cnot")
def complement(e: Emitter, i: Instruction) -> None:
    b = e.b
    type_ = i.type.register
    value = e.read(i.operands[1], type_)
    if i.opcode == "not":
        e.write(i.operands[0], b.op("xor", value, b.integer(type_, -1)))
    else:
        e.write(i.operands[0], b.resize(b.compare("icmp eq", value, b.integer(type_, 0)), type_))


@emits("lop3")
def lop3(e: Emitter, i: Instruction) -> None:
    """Emits any function of three bits, given by its truth table."""
    x, y, z = (e.read(i.operands[n], "i32") for n in (1, 2, 3))
    table = i.operands[4]
    if not isinstance(table, Imm):
        raise e.unsupported()
    result = _minterms(e, x, y, z, table.value & 0xFF)
    target = i.operands[0]
    if not isinstance(target, Pair):
        e.write(target, result)
        return
    # lop3.or.b32 d|p, a, b, c, table, q: p is whether any bit of d is set, or q.
    some = e.b.compare("icmp ne", result, e.b.integer("i32", 0))
    some = e.b.op("and" if i.has("and") else "or", some, e.read(i.operands[5], "i1"))
    e.write(target.first, result)
    e.write(target.second, some)


def _minterms(e: Emitter, x: Value, y: Value, z: Value, table: int) -> Value:
    b = e.b
    ones = b.integer("i32", -1)

    def of_z(two: int) -> Value | None:
        """A function of z alone: bit 0 its value for z = 0, bit 1 for z = 1. None: always 0."""
        return (None, b.op("xor", z, ones), z, ones)[two]

    def mux(select: Value, when0: Value | None, when1: Value | None) -> Value | None:
        if when0 is when1:
            return when0
        if when0 is None:
            assert when1 is not None
            return b.op("and", select, when1)
        if when1 is None:
            return b.op("and", b.op("xor", select, ones), when0)
        return b.op("xor", when0, b.op("and", select, b.op("xor", when0, when1)))

    rows = [of_z(table >> (2 * row) & 3) for row in range(4)]  # row = x y
    low = rows[0] if _same(table, 0, 1) else mux(y, rows[0], rows[1])
    high = rows[2] if _same(table, 2, 3) else mux(y, rows[2], rows[3])
    result = low if (table & 0xF) == (table >> 4) else mux(x, low, high)
    return b.integer("i32", 0) if result is None else result


def _same(table: int, first: int, second: int) -> bool:
    return (table >> (2 * first) & 3) == (table >> (2 * second) & 3)


@emits("shl", "shr")
def shift(e: Emitter, i: Instruction) -> None:
    """Counts are clamped at the width: everything is shifted out, or the sign fills all."""
    b = e.b
    type_ = i.type.register
    bits = BITS[type_]
    value = e.read(i.operands[1], type_, signed=i.type.is_signed)
    arithmetic = i.opcode == "shr" and i.type.is_signed
    name = "shl" if i.opcode == "shl" else "ashr" if arithmetic else "lshr"
    amount = i.operands[2]
    if isinstance(amount, Imm):
        count = amount.value & 0xFFFFFFFF
        if count >= bits:
            result = b.op("ashr", value, b.integer(type_, bits - 1)) if arithmetic else b.integer(type_, 0)
        else:
            result = b.op(name, value, b.integer(type_, count))
    else:
        result = shift_clamped(e, name, value, e.read(amount, "i32"))
    e.write(i.operands[0], result, signed=i.type.is_signed)


def shift_clamped(e: Emitter, name: str, value: Value, count: Value) -> Value:
    """``count`` is an i32 of any size."""
    b = e.b
    bits = BITS[value.type]
    clamped = b.resize(b.intrinsic("umin", count, b.integer("i32", bits - 1)), value.type)
    result = b.op(name, value, clamped)
    if name == "ashr":
        return result
    return b.select(b.compare("icmp ult", count, b.integer("i32", bits)), result, b.integer(value.type, 0))


@emits("shf")
def funnel_shift(e: Emitter, i: Instruction) -> None:
    """``shf.l``: upper word of (b:a) << c; ``shf.r``: lower word of (b:a) >> c; c wraps at 32 or is clamped to it."""
    b = e.b
    low, high, count = (e.read(i.operands[n], "i32") for n in (1, 2, 3))
    wide = b.op("or", b.op("shl", b.resize(high, "i64"), b.integer("i64", 32)), b.resize(low, "i64"))
    count = (
        b.intrinsic("umin", count, b.integer("i32", 32)) if i.has("clamp") else b.op("and", count, b.integer("i32", 31))
    )
    amount = b.resize(count, "i64")
    upper = i.has("l")
    result = b.op("shl" if upper else "lshr", wide, amount)
    e.write(i.operands[0], b.resize(b.op("lshr", result, b.integer("i64", 32)) if upper else result, "i32"))


@emits("clz", "popc", "brev")
def counts(e: Emitter, i: Instruction) -> None:
    b = e.b
    value = e.read(i.operands[1], i.type.register)
    if i.opcode == "brev":
        e.write(i.operands[0], b.intrinsic("bitreverse", value))
    elif i.opcode == "clz":
        e.write(i.operands[0], b.resize(b.intrinsic("ctlz", value, extra=("i1 false",)), "i32"))
    else:
        e.write(i.operands[0], b.resize(b.intrinsic("ctpop", value), "i32"))


@emits("bfind")
def bfind(e: Emitter, i: Instruction) -> None:
    """Emits the position of the highest bit that differs from the sign; -1 when there is none."""
    b = e.b
    type_ = i.type.register
    bits = BITS[type_]
    value = e.read(i.operands[1], type_)
    if i.type.is_signed:
        value = b.op("xor", value, b.op("ashr", value, b.integer(type_, bits - 1)))
    zeros = b.resize(b.intrinsic("ctlz", value, extra=("i1 false",)), "i32")
    none = b.compare("icmp eq", value, b.integer(type_, 0))
    position = zeros if i.has("shiftamt") else b.op("sub", b.integer("i32", bits - 1), zeros)
    e.write(i.operands[0], b.select(none, b.integer("i32", -1), position))


def _low_bits(e: Emitter, type_: str, count: Value) -> Value:
    """Returns (1 << count) - 1 for an i32 count of any size."""
    b = e.b
    one = b.integer(type_, 1)
    return b.op("sub", shift_clamped(e, "shl", one, count), one)


@emits("bfe")
def bit_field_extract(e: Emitter, i: Instruction) -> None:
    b, signed = e.b, i.type.is_signed
    type_ = i.type.register
    bits = BITS[type_]
    value = e.read(i.operands[1], type_)
    position = b.op("and", e.read(i.operands[2], "i32"), b.integer("i32", 0xFF))
    length = b.op("and", e.read(i.operands[3], "i32"), b.integer("i32", 0xFF))
    shifted = shift_clamped(e, "ashr" if signed else "lshr", value, position)
    field = b.op("and", shifted, _low_bits(e, type_, length))
    if signed:
        # The sign is the field's last bit, or the value's where the field reaches beyond it; none for an empty field.
        last = b.op("sub", b.op("add", position, length), b.integer("i32", 1))
        last = b.intrinsic("umin", last, b.integer("i32", bits - 1))
        sign = b.op("and", b.op("lshr", value, b.resize(last, type_)), b.integer(type_, 1))
        fill = b.op("sub", b.integer(type_, 0), sign)
        above = b.op("xor", _low_bits(e, type_, length), b.integer(type_, -1))
        field = b.op("or", field, b.op("and", fill, above))
        field = b.select(b.compare("icmp eq", length, b.integer("i32", 0)), b.integer(type_, 0), field)
    e.write(i.operands[0], field)


@emits("bfi")
def bit_field_insert(e: Emitter, i: Instruction) -> None:
    b = e.b
    type_ = i.type.register
    field, into = e.read(i.operands[1], type_), e.read(i.operands[2], type_)
    position = b.op("and", e.read(i.operands[3], "i32"), b.integer("i32", 0xFF))
    length = b.op("and", e.read(i.operands[4], "i32"), b.integer("i32", 0xFF))
    mask = shift_clamped(e, "shl", _low_bits(e, type_, length), position)
    placed = b.op("and", shift_clamped(e, "shl", field, position), mask)
    e.write(i.operands[0], b.op("or", placed, b.op("and", into, b.op("xor", mask, b.integer(type_, -1)))))


@emits("szext")
def sign_or_zero_extend(e: Emitter, i: Instruction) -> None:
    """Extends from bit count n of the second operand."""
    b, signed = e.b, i.type.is_signed
    value, count = e.read(i.operands[1], "i32"), e.read(i.operands[2], "i32")
    count = (
        b.intrinsic("umin", count, b.integer("i32", 32)) if i.has("clamp") else b.op("and", count, b.integer("i32", 31))
    )
    gap = b.op("sub", b.integer("i32", 32), count)
    shifted = shift_clamped(e, "shl", value, gap)
    result = shift_clamped(e, "ashr" if signed else "lshr", shifted, gap)
    e.write(i.operands[0], b.select(b.compare("icmp eq", count, b.integer("i32", 0)), b.integer("i32", 0), result))


@emits("bmsk")
def bit_mask(e: Emitter, i: Instruction) -> None:
    b = e.b
    position, width = e.read(i.operands[1], "i32"), e.read(i.operands[2], "i32")
    if i.has("wrap"):
        position, width = (b.op("and", v, b.integer("i32", 31)) for v in (position, width))
    e.write(i.operands[0], shift_clamped(e, "shl", _low_bits(e, "i32", width), position))


@emits("prmt")
def permute_bytes(e: Emitter, i: Instruction) -> None:
    b = e.b
    low, high, selector = (e.read(i.operands[n], "i32") for n in (1, 2, 3))
    wide = b.op("or", b.op("shl", b.resize(high, "i64"), b.integer("i64", 32)), b.resize(low, "i64"))
    mode = next((m for m in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16") if i.has(m)), None)
    result: Value | None = None
    for position in range(4):
        if mode is None:
            chosen = b.op("lshr", selector, b.integer("i32", 4 * position))
            negative = b.op("and", chosen, b.integer("i32", 8))
            index = b.op("and", chosen, b.integer("i32", 7))
        else:
            index, negative = _permute_mode(e, mode, position, selector), None
        amount = b.resize(b.op("shl", index, b.integer("i32", 3)), "i64")
        byte = b.op("and", b.resize(b.op("lshr", wide, amount), "i32"), b.integer("i32", 0xFF))
        if negative is not None:
            sign = b.op("sub", b.integer("i32", 0), b.op("lshr", byte, b.integer("i32", 7)))
            sign = b.op("and", sign, b.integer("i32", 0xFF))
            byte = b.select(b.compare("icmp ne", negative, b.integer("i32", 0)), sign, byte)
        placed = b.op("shl", byte, b.integer("i32", 8 * position)) if position else byte
        result = placed if result is None else b.op("or", result, placed)
    assert result is not None
    e.write(i.operands[0], result)


def _permute_mode(e: Emitter, mode: str, position: int, selector: Value) -> Value:
    b = e.b
    s = b.op("and", selector, b.integer("i32", 3))
    at = b.integer("i32", position)
    match mode:
        case "f4e":
            return b.op("add", s, at)
        case "b4e":
            return b.op("and", b.op("sub", s, at), b.integer("i32", 7))
        case "rc8":
            return s
        case "ecl":
            return b.intrinsic("umax", s, at)
        case "ecr":
            return b.intrinsic("umin", s, at)
    return b.op(
        "add", b.op("shl", b.op("and", s, b.integer("i32", 1)), b.integer("i32", 1)), b.integer("i32", position & 1)
    )


@emits("fns")
def find_nth_set(e: Emitter, i: Instruction) -> None:
    """Emits the call of a helper, because the operation is a loop."""
    slots = [e.spill(e.materialise(e.read(i.operands[n], "i32"))) for n in (1, 2, 3)]
    out = e.scratch()
    e.call("emu_fns", *(f"ptr {s}" for s in slots), f"ptr {out}")
    e.write(i.operands[0], e.fill(out, "i32"))
