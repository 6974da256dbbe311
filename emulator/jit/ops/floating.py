"""Arithmetic of f32 and f64, with IEEE results bit for bit where PTX asks for them.

``.ftz``, ``.sat`` and directed rounding are part of it.
"""

from __future__ import annotations

import math

from emulator.jit.builder import Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops import half
from emulator.jit.ops.approximate import APPROXIMATIONS, exp2
from emulator.jit.ops.registry import emits
from emulator.jit.ops.rounding import directed_operation, flush, minimum, saturate
from emulator.ptx.ir import Instruction


def _nearest(e: Emitter, opcode: str, v: list[Value]) -> Value:
    b = e.b
    match opcode:
        case "add" | "sub" | "mul" | "div":
            return b.op(f"f{opcode}", v[0], v[1])
        case "fma" | "mad":
            return b.intrinsic("fma", v[0], v[1], v[2])
    return b.intrinsic("sqrt", v[0])


_ARITY = {
    "add": 2,
    "sub": 2,
    "mul": 2,
    "div": 2,
    "fma": 3,
    "mad": 3,
    "sqrt": 1,
    "rcp": 1,
    "rsqrt": 1,
    "neg": 1,
    "abs": 1,
    "min": 2,
    "max": 2,
}


def arithmetic(e: Emitter, i: Instruction) -> None:
    """Emits add sub mul fma mad neg abs min max of f32 and f64."""
    b, opcode = e.b, i.opcode
    if opcode not in _ARITY:
        raise e.unsupported()
    type_ = i.type.register
    ftz = i.has("ftz")
    values = [e.read(o, type_) for o in i.operands[1 : 1 + max(_ARITY[opcode], len(i.operands) - 1)]]
    if ftz:
        values = [flush(e, v) for v in values]
    mode = next((m for m in ("rm", "rp", "rz") if i.has(m)), None)
    if opcode == "neg":
        result = b.op("fneg", values[0])
    elif opcode == "abs":
        result = b.intrinsic("fabs", values[0])
    elif opcode in ("min", "max"):
        result = values[0]
        for other in values[1:]:
            if i.has("abs") or i.has("xorsign"):
                raise e.unsupported()
            result = minimum(e, result, other, largest=opcode == "max", keep_nan=i.has("NaN"))
    elif opcode == "div" and i.has("approx"):
        # Divisors beyond 2**126 have a denormal for a reciprocal, which is taken for zero.
        large = b.compare("fcmp ogt", b.intrinsic("fabs", values[1]), b.real(type_, 2.0**126))
        infinity = b.intrinsic("copysign", b.real(type_, math.inf), values[1])
        result = b.op("fdiv", values[0], b.select(large, infinity, values[1]))
    elif mode is not None:
        result = directed_operation(e, opcode, values, mode)
    else:
        result = _nearest(e, opcode, values)
    finish(e, i, result)


def finish(e: Emitter, i: Instruction, result: Value) -> None:
    """Writes ``result``, after ``.ftz`` and ``.sat`` where the instruction has them."""
    if i.has("ftz"):
        result = flush(e, result)
    if i.has("sat"):
        result = saturate(e, result)
    e.write(i.operands[0], result)


@emits("sqrt", "rcp", "rsqrt")
def roots(e: Emitter, i: Instruction) -> None:
    b = e.b
    type_ = i.type.register
    if i.type.bits == 16:
        half.unary(e, i)
        return
    value = e.read(i.operands[1], type_)
    if i.has("ftz"):
        value = flush(e, value)
    one = b.real(type_, 1.0)
    mode = next((m for m in ("rm", "rp", "rz") if i.has(m)), None)
    if mode is not None and i.opcode != "rsqrt":
        values = [value] if i.opcode == "sqrt" else [one, value]
        opcode = "sqrt" if i.opcode == "sqrt" else "div"
        result = directed_operation(e, opcode, values, mode)
    else:
        result = b.intrinsic("sqrt", value) if i.opcode != "rcp" else value
        if i.opcode != "sqrt":
            result = b.op("fdiv", one, result)
    if type_ == "double" and i.has("approx"):
        # Only the upper 32 bits are computed by the hardware.
        bits = b.op("and", b.bitcast(result, "i64"), b.integer("i64", 0xFFFFFFFF00000000))
        result = b.bitcast(bits, "double")
    finish(e, i, result)


@emits("fma")
def fused(e: Emitter, i: Instruction) -> None:
    if i.type.bits == 16 or i.type.lanes == 2:
        half.arithmetic(e, i)
    else:
        arithmetic(e, i)


@emits("ex2", "lg2", "sin", "cos", "tanh")
def approximations(e: Emitter, i: Instruction) -> None:
    if i.type.bits == 16 or i.type.lanes == 2:
        half.unary(e, i)
        return
    value = e.read(i.operands[1], "float")
    if i.opcode == "ex2":
        e.write(i.operands[0], exp2(e, value, ftz=i.has("ftz")))
        return
    if i.has("ftz"):
        value = flush(e, value)
    finish(e, i, APPROXIMATIONS[i.opcode](e, value))


@emits("copysign")
def copysign(e: Emitter, i: Instruction) -> None:
    """The sign is the first operand's, the magnitude the second's."""
    type_ = i.type.register
    sign, magnitude = e.read(i.operands[1], type_), e.read(i.operands[2], type_)
    e.write(i.operands[0], e.b.intrinsic("copysign", magnitude, sign))


def _is_denormal(e: Emitter, magnitude: Value, least: Value) -> Value:
    b = e.b
    one = b.integer(magnitude.type, 1)
    return b.compare("icmp ult", b.op("sub", magnitude, one), b.op("sub", least, one))


@emits("testp")
def test_property(e: Emitter, i: Instruction) -> None:
    b = e.b
    type_ = i.type.register
    bits, exponent = (32, 0x7F800000) if type_ == "float" else (64, 0x7FF0000000000000)
    word = f"i{bits}"
    pattern = b.bitcast(e.read(i.operands[1], type_), word)
    magnitude = b.op("and", pattern, b.integer(word, (1 << (bits - 1)) - 1))
    infinite = b.integer(word, exponent)
    least = b.integer(word, 0x00800000 if bits == 32 else 0x0010000000000000)
    match i.modifiers[0]:
        case "finite":
            result = b.compare("icmp ult", magnitude, infinite)
        case "infinite":
            result = b.compare("icmp eq", magnitude, infinite)
        case "number":
            result = b.compare("icmp ule", magnitude, infinite)
        case "notanumber":
            result = b.compare("icmp ugt", magnitude, infinite)
        case "normal":  # zero is
            denormal = _is_denormal(e, magnitude, least)
            result = b.op("and", b.compare("icmp ult", magnitude, infinite), b.negate(denormal))
        case _:
            result = _is_denormal(e, magnitude, least)
    e.write(i.operands[0], result)
