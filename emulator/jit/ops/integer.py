"""Integer arithmetic. Floating-point types of the same opcodes go to ``floating`` and ``half``."""

from __future__ import annotations

from emulator.jit.builder import BITS, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops import floating, half
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Instruction, Reg
from emulator.ptx.types import ScalarType

_CARRY = Reg("%cc")


def _float_family(e: Emitter, i: Instruction) -> bool:
    """Emits it as floating-point arithmetic, and returns True, if its type is a floating-point or packed type."""
    scalar = i.type
    if scalar.is_half:
        half.arithmetic(e, i)
    elif scalar.is_float:
        floating.arithmetic(e, i)
    elif scalar.lanes == 2:
        _packed(e, i)
    else:
        return False
    return True


def _packed(e: Emitter, i: Instruction) -> None:
    """Emits add, sub, min and max of each half of a u16x2 or s16x2."""
    if i.opcode not in ("add", "min", "max", "sub"):
        raise e.unsupported()
    b, signed = e.b, i.type.is_signed
    a, c = e.read(i.operands[1], "i32"), e.read(i.operands[2], "i32")
    halves = []
    for shift in (0, 16):
        x, y = (b.resize(b.op("lshr", v, b.integer("i32", shift)), "i16") for v in (a, c))
        if i.opcode in ("add", "sub"):
            r = b.op(i.opcode, x, y)
        else:
            r = b.intrinsic(("s" if signed else "u") + i.opcode, x, y)
        halves.append(b.resize(r, "i32"))
    e.write(i.operands[0], b.op("or", halves[0], b.op("shl", halves[1], b.integer("i32", 16))))


def _read(e: Emitter, i: Instruction, *indices: int) -> list[Value]:
    type_ = i.type.register
    return [e.read(i.operands[n], type_, signed=i.type.is_signed) for n in indices]


@emits("add", "sub", "addc", "subc")
def add_sub(e: Emitter, i: Instruction) -> None:
    if _float_family(e, i):
        return
    b = e.b
    x, y = _read(e, i, 1, 2)
    base = i.opcode[:3]
    if i.has("sat"):
        e.write(i.operands[0], b.intrinsic(f"s{base}.sat", x, y))
        return
    if i.opcode.endswith("c") or i.has("cc"):
        _with_carry(e, i, x, y)
        return
    e.write(i.operands[0], b.op(base, x, y))


def _with_carry(e: Emitter, i: Instruction, x: Value, y: Value) -> None:
    """Emits an addition or a subtraction that takes or leaves a carry.

    There is one adder, and the carry is the bit above its result: a subtraction is x + ~y + 1, or with the carry x + ~y
    + CC.CF, so that what it leaves is set where nothing was borrowed. nvcc's 128-bit division asks for that by an
    ``addc`` after a ``subc.cc``.
    """
    b = e.b
    bits = BITS[x.type]
    wide = f"i{2 * bits}"
    subtracts = i.opcode.startswith("sub")
    if subtracts:
        y = b.op("xor", y, b.integer(y.type, -1))
    result = b.op("add", b.resize(x, wide), b.resize(y, wide))
    if i.opcode.endswith("c"):
        result = b.op("add", result, b.resize(e.read(_CARRY, "i1"), wide))
    elif subtracts:
        result = b.op("add", result, b.integer(wide, 1))
    e.write(i.operands[0], b.resize(result, x.type))
    if i.has("cc"):
        carry = b.op("and", b.op("lshr", result, b.integer(wide, bits)), b.integer(wide, 1))
        e.write(_CARRY, b.resize(carry, "i1"))


def _wide_product(e: Emitter, x: Value, y: Value, signed: bool) -> Value:
    wide = f"i{2 * BITS[x.type]}"
    return e.b.op("mul", e.b.resize(x, wide, signed=signed), e.b.resize(y, wide, signed=signed))


def _high_product(e: Emitter, x: Value, y: Value, signed: bool) -> Value:
    b = e.b
    bits = BITS[x.type]
    if bits < 64 or not (x.vector or y.vector):
        product = _wide_product(e, x, y, signed)
        return b.resize(b.op("lshr", product, b.integer(product.type, bits)), x.type)
    # 64-bit vectors: by 32-bit halves, since a vector of i128 is taken apart lane by lane.
    low, shift = b.integer("i64", 0xFFFFFFFF), b.integer("i64", 32)
    x0, x1 = b.op("and", x, low), b.op("lshr", x, shift)
    y0, y1 = b.op("and", y, low), b.op("lshr", y, shift)
    p00, p01, p10, p11 = b.op("mul", x0, y0), b.op("mul", x0, y1), b.op("mul", x1, y0), b.op("mul", x1, y1)
    middle = b.op("add", b.op("add", b.op("lshr", p00, shift), b.op("and", p01, low)), b.op("and", p10, low))
    high = b.op("add", b.op("add", p11, b.op("lshr", p01, shift)), b.op("lshr", p10, shift))
    high = b.op("add", high, b.op("lshr", middle, shift))
    if signed:
        for a, c in ((x, y), (y, x)):
            sign = b.op("ashr", a, b.integer("i64", 63))
            high = b.op("sub", high, b.op("and", sign, c))
    return high


@emits("mul", "mad", "madc")
def multiply(e: Emitter, i: Instruction) -> None:
    if _float_family(e, i):
        return
    b, signed = e.b, i.type.is_signed
    x, y = _read(e, i, 1, 2)
    if i.has("wide"):
        product = _wide_product(e, x, y, signed)
    elif i.has("hi"):
        product = _high_product(e, x, y, signed)
    else:
        product = b.op("mul", x, y)
    if i.opcode == "mul":
        e.write(i.operands[0], product, signed=signed)
        return
    addend = e.read(i.operands[3], product.type, signed=signed)
    if i.opcode == "madc" or i.has("cc"):
        carrying = Instruction("addc" if i.opcode == "madc" else "add", i.modifiers, i.operands, i.guard, i.location)
        _with_carry(e, carrying, product, addend)
    elif i.has("sat"):
        e.write(i.operands[0], b.intrinsic("sadd.sat", product, addend))
    else:
        e.write(i.operands[0], b.op("add", product, addend), signed=signed)


@emits("mul24", "mad24")
def multiply24(e: Emitter, i: Instruction) -> None:
    b, signed = e.b, i.type.is_signed
    shift = b.integer("i32", 8)
    operands = []
    for value in _read(e, i, 1, 2):
        operands.append(b.op("ashr" if signed else "lshr", b.op("shl", value, shift), shift))
    product = _wide_product(e, operands[0], operands[1], signed)
    if i.has("hi"):
        product = b.op("lshr", product, b.integer("i64", 16))
    result = b.resize(product, "i32")
    if i.opcode == "mad24":
        addend = e.read(i.operands[3], "i32")
        result = b.intrinsic("sadd.sat", result, addend) if i.has("sat") else b.op("add", result, addend)
    e.write(i.operands[0], result)


@emits("div", "rem")
def divide(e: Emitter, i: Instruction) -> None:
    if _float_family(e, i):
        return
    x, y = _read(e, i, 1, 2)
    quotient, remainder = _quotient(e, x, y, i.type)
    e.write(i.operands[0], quotient if i.opcode == "div" else remainder, signed=i.type.is_signed)


def _quotient(e: Emitter, x: Value, y: Value, scalar: ScalarType) -> tuple[Value, Value]:
    """Division by zero gives all ones, as quotient and as remainder, as the hardware's sequence does."""
    b, signed, type_ = e.b, scalar.is_signed, x.type
    zero = b.compare("icmp eq", y, b.integer(type_, 0))
    if x.vector or y.vector:
        if type_ == "i64":
            a_slot, b_slot, out = e.spill(x), e.spill(y), e.scratch()
            e.call(f"emu_div_{scalar.name if signed else 'u64'}", f"ptr {a_slot}", f"ptr {b_slot}", f"ptr {out}")
            quotient = e.fill(out, "i64")
        else:
            quotient = _small_quotient(e, x, y, signed)
    else:
        safe = b.select(zero, b.integer(type_, 1), y)
        if signed:
            # INT_MIN / -1 traps on the CPU: negate instead.
            minus = b.compare("icmp eq", safe, b.integer(type_, -1))
            quotient = b.op("sdiv", x, b.select(minus, b.integer(type_, 1), safe))
            quotient = b.select(minus, b.op("sub", b.integer(type_, 0), x), quotient)
        else:
            quotient = b.op("udiv", x, safe)
    quotient = b.select(zero, b.integer(type_, -1), quotient)
    remainder = b.select(zero, quotient, b.op("sub", x, b.op("mul", quotient, y)))
    return quotient, remainder


def _small_quotient(e: Emitter, x: Value, y: Value, signed: bool) -> Value:
    """Vectors of up to 32 bits: the double quotient of two 32-bit integers never rounds up to the next integer."""
    b, type_ = e.b, x.type
    wide_x, wide_y = b.resize(x, "i32", signed=signed), b.resize(y, "i32", signed=signed)
    one = b.integer("i32", 1)
    name = "si" if signed else "ui"
    wide_y = b.select(b.compare("icmp eq", wide_y, b.integer("i32", 0)), one, wide_y)
    minus = b.compare("icmp eq", wide_y, b.integer("i32", -1)) if signed else None
    if minus is not None:
        wide_y = b.select(minus, one, wide_y)
    quotient = b.op("fdiv", b.cast(f"{name}tofp", wide_x, "double"), b.cast(f"{name}tofp", wide_y, "double"))
    result = b.cast(f"fpto{name}", quotient, "i32")
    if minus is not None:
        result = b.select(minus, b.op("sub", b.integer("i32", 0), wide_x), result)
    return b.resize(result, type_)


@emits("abs", "neg")
def unary(e: Emitter, i: Instruction) -> None:
    if _float_family(e, i):
        return
    b = e.b
    (x,) = _read(e, i, 1)
    if i.opcode == "neg":
        e.write(i.operands[0], b.op("sub", b.integer(x.type, 0), x), signed=True)
    else:
        e.write(i.operands[0], b.intrinsic("abs", x, extra=("i1 false",)), signed=True)


@emits("min", "max")
def extremum(e: Emitter, i: Instruction) -> None:
    if _float_family(e, i):
        return
    x, y = _read(e, i, 1, 2)
    result = e.b.intrinsic(("s" if i.type.is_signed else "u") + i.opcode, x, y)
    if i.has("relu"):
        result = e.b.intrinsic("smax", result, e.b.integer(result.type, 0))
    e.write(i.operands[0], result, signed=i.type.is_signed)


@emits("sad")
def sum_of_differences(e: Emitter, i: Instruction) -> None:
    b = e.b
    x, y, z = _read(e, i, 1, 2, 3)
    prefix = "s" if i.type.is_signed else "u"
    difference = b.op("sub", b.intrinsic(f"{prefix}max", x, y), b.intrinsic(f"{prefix}min", x, y))
    e.write(i.operands[0], b.op("add", z, difference), signed=i.type.is_signed)


@emits("dp4a", "dp2a")
def dot_product(e: Emitter, i: Instruction) -> None:
    """Emits d = c + sum of products of four bytes, or of two 16-bit parts of a with two bytes of b."""
    b = e.b
    signed_a, signed_b = i.types[0].is_signed, i.types[1].is_signed
    x, y, total = (e.read(i.operands[n], "i32") for n in (1, 2, 3))

    if i.opcode == "dp4a":
        for n in range(4):
            total = b.op("add", total, b.op("mul", part(e, x, n, 8, signed_a), part(e, y, n, 8, signed_b)))
    else:
        first = 2 if i.has("hi") else 0
        for n in range(2):
            total = b.op("add", total, b.op("mul", part(e, x, n, 16, signed_a), part(e, y, first + n, 8, signed_b)))
    e.write(i.operands[0], total)


@emits("vabsdiff2", "vabsdiff4")
def absolute_differences(e: Emitter, i: Instruction) -> None:
    """Emits the differences of two or four parts, packed; with ``.add`` their sum plus the third operand."""
    b = e.b
    bits = 32 // int(i.opcode[-1])
    signed_a, signed_b = i.types[1].is_signed, i.types[2].is_signed
    x, y, total = (e.read(i.operands[n], "i32") for n in (1, 2, 3))
    if not i.has("add"):
        total = b.integer("i32", 0)
    for n in range(32 // bits):
        difference = b.op("sub", part(e, x, n, bits, signed_a), part(e, y, n, bits, signed_b))
        size = b.intrinsic("smax", difference, b.op("sub", b.integer("i32", 0), difference))
        if not i.has("add"):
            inside = b.op("and", size, b.integer("i32", (1 << bits) - 1))
            size = b.op("shl", inside, b.integer("i32", bits * n))
        total = b.op("add", total, size)
    e.write(i.operands[0], total)


def part(e: Emitter, value: Value, index: int, bits: int, signed: bool) -> Value:
    """Returns part number ``n`` of a word, counted from the low end."""
    shifted = e.b.op("shl", value, e.b.integer("i32", 32 - bits * (index + 1)))
    return e.b.op("ashr" if signed else "lshr", shifted, e.b.integer("i32", 32 - bits))
