"""f16, bf16 and their packed forms: computed in f32 (or f64 where that would round twice), rounded once."""

from __future__ import annotations

from emulator.jit.builder import Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.approximate import APPROXIMATIONS
from emulator.jit.ops.rounding import minimum, saturate
from emulator.ptx.ir import Imm, Instruction, Operand
from emulator.ptx.types import Kind, ScalarType


def to_float(e: Emitter, bits: Value, kind: Kind) -> Value:
    """Returns the f16 or bf16 with these i16 bits as a float, exactly."""
    b = e.b
    if kind is Kind.BFLOAT:
        return b.bitcast(b.op("shl", b.resize(bits, "i32"), b.integer("i32", 16)), "float")
    return b.cast("fpext", b.bitcast(bits, "half"), "float")


def from_float(e: Emitter, value: Value, kind: Kind) -> Value:
    """Returns the i16 bits of a float rounded to nearest even; NaN is 0x7fff."""
    b = e.b
    if kind is Kind.FLOAT:
        rounded = b.bitcast(b.cast("fptrunc", value, "half"), "i16")
    else:
        bits = b.bitcast(value, "i32")
        odd = b.op("and", b.op("lshr", bits, b.integer("i32", 16)), b.integer("i32", 1))
        rounded = b.resize(
            b.op("lshr", b.op("add", bits, b.op("add", odd, b.integer("i32", 0x7FFF))), b.integer("i32", 16)), "i16"
        )
    return b.select(b.compare("fcmp uno", value, value), b.integer("i16", 0x7FFF), rounded)


def from_double(e: Emitter, value: Value, kind: Kind) -> Value:
    """Rounds to float with round-to-odd first, so that the second rounding decides alone."""
    return from_float(e, odd_float(e, value), kind)


def odd_float(e: Emitter, value: Value) -> Value:
    """Returns a double as float, rounded to odd, so that a further rounding to f16 or bf16 is right."""
    b = e.b
    nearest = b.cast("fptrunc", value, "float")
    back = b.cast("fpext", nearest, "double")
    bits = b.bitcast(nearest, "i32")
    over = b.compare("fcmp ogt", b.intrinsic("fabs", back), b.intrinsic("fabs", value))
    inexact = b.compare("fcmp one", back, value)
    bits = b.op("sub", bits, b.resize(over, "i32"))
    return b.bitcast(b.op("or", bits, b.resize(inexact, "i32")), "float")


def _odd_sum(e: Emitter, a: Value, c: Value) -> Value:
    """Returns a + c in double, rounded to odd."""
    b = e.b
    total = b.op("fadd", a, c)
    part = b.op("fsub", total, a)
    error = b.op("fadd", b.op("fsub", a, b.op("fsub", total, part)), b.op("fsub", c, part))
    zero = b.real("double", 0.0)
    inexact = b.compare("fcmp one", error, zero)
    bits, error_bits = b.bitcast(total, "i64"), b.bitcast(error, "i64")
    opposite = b.compare("icmp slt", b.op("xor", bits, error_bits), b.integer("i64", 0))
    bits = b.op("sub", bits, b.resize(b.op("and", inexact, opposite), "i64"))
    return b.bitcast(b.op("or", bits, b.resize(inexact, "i64")), "double")


def parts(e: Emitter, operand: Operand, scalar: ScalarType) -> list[Value]:
    """Returns the i16 bits of an operand: one, or two of a packed one (low first)."""
    b = e.b
    if scalar.lanes == 1:
        if isinstance(operand, Imm) and operand.float_bits:
            return [from_float(e, b.bits("float", operand.value), scalar.kind)]
        return [e.read(operand, "i16")]
    word = e.read(operand, "i32")
    return [b.resize(word, "i16"), b.resize(b.op("lshr", word, b.integer("i32", 16)), "i16")]


def join(e: Emitter, patterns: list[Value]) -> Value:
    """Returns the register of one pattern of 16 bits, or of two, the low one first."""
    b = e.b
    if len(patterns) == 1:
        return patterns[0]
    low, high = (b.resize(p, "i32") for p in patterns)
    return b.op("or", low, b.op("shl", high, b.integer("i32", 16)))


_ARITY = {"fma": 3, "mad": 3, "neg": 1, "abs": 1}


#: A float below it has an f16 of 11 significant bits below the least normal one; hardware decides by that, not by what
#: is left where the least bits of a denormal are rounded away.
_TINY = 2.0**-14 - 2.0**-26


def flush(e: Emitter, bits: Value, exact: Value | None = None) -> Value:
    """Returns the f16 with denormals replaced by zero (``.ftz``). ``exact`` is the float that was rounded to it."""
    b = e.b
    if exact is None:
        tiny = b.compare("icmp ult", b.op("and", bits, b.integer("i16", 0x7FFF)), b.integer("i16", 0x0400))
    else:
        tiny = b.compare("fcmp olt", b.intrinsic("fabs", exact), b.real("float", _TINY))
    return b.select(tiny, b.op("and", bits, b.integer("i16", 0x8000)), bits)


def arithmetic(e: Emitter, i: Instruction) -> None:
    """Emits add sub mul fma min max neg abs of f16 and bf16, single or packed."""
    scalar, opcode = i.type, i.opcode
    if opcode not in ("add", "sub", "mul", "fma", "min", "max", "neg", "abs"):
        raise e.unsupported()
    columns = [parts(e, o, scalar) for o in i.operands[1:]]
    if i.has("ftz"):
        columns = [[flush(e, p) for p in column] for column in columns]
    e.write(i.operands[0], join(e, [_one(e, i, list(row)) for row in zip(*columns, strict=True)]))


def _one(e: Emitter, i: Instruction, bits: list[Value]) -> Value:
    b, opcode, kind = e.b, i.opcode, i.type.kind
    if opcode in ("neg", "abs"):
        mask = b.integer("i16", 0x8000 if opcode == "neg" else 0x7FFF)
        return b.op("xor" if opcode == "neg" else "and", bits[0], mask)
    values = [to_float(e, p, kind) for p in bits]
    if opcode == "fma":
        wide = [b.cast("fpext", v, "double") for v in values]
        product = b.op("fmul", wide[0], wide[1])
        # The sum of f16 terms is near enough to exact in double; bf16's range is not.
        total = b.op("fadd", product, wide[2]) if kind is Kind.FLOAT else _odd_sum(e, product, wide[2])
        value = odd_float(e, total)
    elif opcode in ("min", "max"):
        value = values[0]
        for other in values[1:]:
            value = minimum(e, value, other, largest=opcode == "max", keep_nan=i.has("NaN"))
    else:
        value = b.op(f"f{opcode}", values[0], values[1])
    if i.has("sat"):
        value = saturate(e, value)
    if i.has("relu"):
        negative = b.compare("fcmp ole", value, b.real("float", 0.0))  # -0 too
        value = b.select(negative, b.real("float", 0.0), value)
    result = from_float(e, value, kind)
    return flush(e, result, value) if i.has("ftz") else result


def unary(e: Emitter, i: Instruction) -> None:
    """Emits ex2 and tanh of halves."""
    scalar = i.type
    if i.opcode not in APPROXIMATIONS:
        raise e.unsupported()
    results = []
    for bits in parts(e, i.operands[1], scalar):
        results.append(from_float(e, APPROXIMATIONS[i.opcode](e, to_float(e, bits, scalar.kind)), scalar.kind))
    e.write(i.operands[0], join(e, results))
