"""f32 and f64 arithmetic: IEEE results bit for bit where PTX asks for them, ``.ftz`` and ``.sat``, directed
rounding."""

from __future__ import annotations

import math
from collections.abc import Callable

from emulator.jit.builder import LANES, Value, lanes_type
from emulator.jit.emitter import Emitter, register_type
from emulator.jit.ops.registry import semantics
from emulator.ptx.ir import Instruction


def flush(e: Emitter, value: Value) -> Value:
    """A denormal float or double becomes zero of its sign."""
    b = e.b
    word, top, least = ("i32", 1 << 31, 1 << 23) if value.type == "float" else ("i64", 1 << 63, 1 << 52)
    bits = b.bitcast(value, word)
    magnitude = b.op("and", bits, b.integer(word, top - 1))
    tiny = b.compare("icmp ult", magnitude, b.integer(word, least))
    zero = b.op("and", bits, b.integer(word, top))
    return b.bitcast(b.select(tiny, zero, bits), value.type)


def saturate(e: Emitter, value: Value) -> Value:
    """To [0, 1]; NaN to 0."""
    b = e.b
    zero, one = b.real(value.type, 0.0), b.real(value.type, 1.0)
    positive = b.select(b.compare("fcmp ogt", value, zero), value, zero)
    return b.select(b.compare("fcmp olt", positive, one), positive, one)


def minimum(e: Emitter, a: Value, c: Value, *, largest: bool, keep_nan: bool) -> Value:
    """min or max: a NaN loses against a number unless ``keep_nan``; -0 is less than +0."""
    name = "max" if largest else "min"
    return e.b.intrinsic(f"{name}imum" if keep_nan else f"{name}imumnum", a, c)


def directed(e: Emitter, nearest: Value, error: Value, mode: str) -> Value:
    """The double ``nearest`` + an error of sign ``error``, rounded to float toward -inf (rm), +inf (rp) or zero
    (rz)."""
    b = e.b
    rounded = b.cast("fptrunc", nearest, "float")
    back = b.cast("fpext", rounded, "double")
    zero = b.real("double", 0.0)
    equal = b.compare("fcmp oeq", back, nearest)
    above = b.op("or", b.compare("fcmp ogt", back, nearest), b.op("and", equal, b.compare("fcmp olt", error, zero)))
    below = b.op("or", b.compare("fcmp olt", back, nearest), b.op("and", equal, b.compare("fcmp ogt", error, zero)))
    bits = b.bitcast(rounded, "i32")
    one = b.integer("i32", 1)
    negative = b.compare("icmp slt", bits, b.integer("i32", 0))
    is_zero = b.compare("icmp eq", b.op("shl", bits, one), b.integer("i32", 0))
    # One step down in value: away from zero for negatives, toward it for positives, -least for a zero.
    down = b.select(negative, b.op("add", bits, one), b.op("sub", bits, one))
    down = b.select(is_zero, b.integer("i32", 0x80000001), down)
    up = b.select(negative, b.op("sub", bits, one), b.op("add", bits, one))
    up = b.select(is_zero, one, up)
    if mode == "rm":
        result = b.select(above, down, bits)
    elif mode == "rp":
        result = b.select(below, up, bits)
    else:
        toward = b.compare("fcmp olt", nearest, zero)
        result = b.select(toward, b.select(below, up, bits), b.select(above, down, bits))
    return b.bitcast(result, "float")


def _two_sum(e: Emitter, a: Value, c: Value) -> tuple[Value, Value]:
    """a + c and its exact rounding error."""
    b = e.b
    total = b.op("fadd", a, c)
    part = b.op("fsub", total, a)
    error = b.op("fadd", b.op("fsub", a, b.op("fsub", total, part)), b.op("fsub", c, part))
    return total, error


_ROUNDINGS = {"rm": 9, "rp": 10, "rz": 11}  # with exceptions suppressed


def _by_instruction(e: Emitter, opcode: str, values: list[Value], mode: str) -> Value | None:
    """AVX-512 has the rounding in the instruction, for whole registers."""
    b = e.b
    names = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "fma": "vfmadd", "mad": "vfmadd", "sqrt": "sqrt"}
    if not e.unit.wide_vectors:
        return None
    type_ = values[0].type
    letter, width = ("s", 16) if type_ == "float" else ("d", 8)
    function = f"@llvm.x86.avx512.{names[opcode]}.p{letter}.512"
    part = f"<{width} x {type_}>"
    b.declare(f"{part} {function}({', '.join([part] * len(values))}, i32)")
    spread = [b.spread(v) for v in values]
    pieces = []
    for start in range(0, LANES, width):
        picks = ", ".join(f"i32 {n}" for n in range(start, start + width))
        taken = [
            b.emit(f"shufflevector <{LANES} x {type_}> {v}, <{LANES} x {type_}> poison, <{width} x i32> <{picks}>")
            for v in spread
        ]
        arguments = ", ".join(f"{part} {v}" for v in taken)
        pieces.append(b.emit(f"call {part} {function}({arguments}, i32 {_ROUNDINGS[mode]})"))
    while len(pieces) > 1:
        picks = ", ".join(f"i32 {n}" for n in range(2 * width))
        pieces = [
            b.emit(f"shufflevector <{width} x {type_}> {x}, <{width} x {type_}> {y}, <{2 * width} x i32> <{picks}>")
            for x, y in zip(pieces[::2], pieces[1::2], strict=True)
        ]
        width *= 2
    result = Value(pieces[0], type_, True)
    return result if any(v.vector for v in values) else b.extract(result, 0)


def _directed_f32(e: Emitter, opcode: str, values: list[Value], mode: str) -> Value:
    b = e.b
    quick = _by_instruction(e, opcode, values, mode)
    if quick is not None:
        return quick
    wide = [b.cast("fpext", v, "double") for v in values]
    zero = b.real("double", 0.0)
    if opcode == "add":
        total, error = _two_sum(e, wide[0], wide[1])
    elif opcode == "sub":
        total, error = _two_sum(e, wide[0], b.op("fneg", wide[1]))
    elif opcode == "mul":
        total, error = b.op("fmul", wide[0], wide[1]), zero
    elif opcode in ("fma", "mad"):
        total, error = _two_sum(e, b.op("fmul", wide[0], wide[1]), wide[2])
    elif opcode == "div":
        total = b.op("fdiv", wide[0], wide[1])
        remainder = b.intrinsic("fma", b.op("fneg", total), wide[1], wide[0])
        flip = b.compare("fcmp olt", wide[1], zero)
        error = b.select(flip, b.op("fneg", remainder), remainder)
    else:  # sqrt
        total = b.intrinsic("sqrt", wide[0])
        error = b.intrinsic("fma", b.op("fneg", total), total, wide[0])
    result = directed(e, total, error, mode)
    if mode == "rm" and opcode in ("add", "sub", "fma", "mad"):
        # An exact zero from terms of opposite sign is -0 when rounding down.
        exact = b.op("and", b.compare("fcmp oeq", total, zero), b.compare("fcmp oeq", error, zero))
        if opcode in ("add", "sub"):
            first, second = wide[0], wide[1] if opcode == "add" else b.op("fneg", wide[1])
        else:
            first, second = b.op("fmul", wide[0], wide[1]), wide[2]
        both = b.op("and", b.bitcast(first, "i64"), b.bitcast(second, "i64"))
        any_ = b.op("or", b.bitcast(first, "i64"), b.bitcast(second, "i64"))
        mixed = b.compare("icmp slt", b.op("xor", both, any_), b.integer("i64", 0))
        result = b.select(b.op("and", exact, mixed), b.real("float", -0.0), result)
    return result


def _directed_f64(e: Emitter, opcode: str, values: list[Value], mode: str) -> Value:
    quick = _by_instruction(e, opcode, values, mode)
    if quick is not None:
        return quick
    code = ("add", "sub", "mul", "fma", "div", "sqrt").index("fma" if opcode == "mad" else opcode)
    slots = [e.spill(v) for v in values]
    while len(slots) < 3:
        slots.append(slots[0])
    out = e.scratch()
    e.call(
        "emu_round_f64",
        f"i32 {code}",
        f"i32 {('rm', 'rp', 'rz').index(mode)}",
        *(f"ptr {s}" for s in slots),
        f"ptr {out}",
    )
    return e.fill(out, "double")


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
    """add sub mul div fma mad neg abs min max of f32 and f64."""
    b, opcode = e.b, i.opcode
    if opcode not in _ARITY:
        raise e.unsupported()
    type_ = register_type(i.type)
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
        result = (_directed_f32 if type_ == "float" else _directed_f64)(e, opcode, values, mode)
    else:
        result = _nearest(e, opcode, values)
    finish(e, i, result)


def finish(e: Emitter, i: Instruction, result: Value) -> None:
    if i.has("ftz"):
        result = flush(e, result)
    if i.has("sat"):
        result = saturate(e, result)
    e.write(i.operands[0], result)


@semantics("sqrt", "rcp", "rsqrt")
def roots(e: Emitter, i: Instruction) -> None:
    b = e.b
    type_ = register_type(i.type)
    if i.type.bits == 16:
        from emulator.jit.ops import half

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
        result = (_directed_f32 if type_ == "float" else _directed_f64)(e, opcode, values, mode)
    else:
        result = b.intrinsic("sqrt", value) if i.opcode != "rcp" else value
        if i.opcode != "sqrt":
            result = b.op("fdiv", one, result)
    if type_ == "double" and i.has("approx"):
        # Only the upper 32 bits are computed by the hardware.
        bits = b.op("and", b.bitcast(result, "i64"), b.integer("i64", 0xFFFFFFFF00000000))
        result = b.bitcast(bits, "double")
    finish(e, i, result)


@semantics("fma")
def fused(e: Emitter, i: Instruction) -> None:
    if i.type.bits == 16 or i.type.lanes == 2:
        from emulator.jit.ops import half

        half.arithmetic(e, i)
    else:
        arithmetic(e, i)


def exp2(e: Emitter, x: Value) -> Value:
    """2**x to about one unit in the last place, denormal results included."""
    b = e.b
    x = b.select(b.compare("fcmp ogt", x, b.real("float", 129.0)), b.real("float", 129.0), x)  # NaN stays
    x = b.select(b.compare("fcmp olt", x, b.real("float", -152.0)), b.real("float", -152.0), x)
    whole = b.intrinsic("rint", x)
    fraction = b.op("fsub", x, whole)
    result = b.real("float", 1.5403530393381608e-04)
    for c in (
        1.3333558146428443e-03,
        9.618129107628477e-03,
        5.550410866482158e-02,
        0.2402265069591007,
        0.6931471805599453,
        1.0,
    ):
        result = b.intrinsic("fma", result, fraction, b.real("float", c))
    if e.unit.wide_vectors and x.vector:
        return _scaled(e, result, whole)
    number = b.select(b.compare("fcmp uno", x, x), b.real("float", 0.0), whole)
    exponent = b.cast("fptosi", number, "i32")
    half = b.op("ashr", exponent, b.integer("i32", 1))
    for part in (half, b.op("sub", exponent, half)):
        scale = b.op("shl", b.op("add", part, b.integer("i32", 127)), b.integer("i32", 23))
        result = b.op("fmul", result, b.bitcast(scale, "float"))
    return result


def _scaled(e: Emitter, value: Value, exponent: Value) -> Value:
    """value * 2**exponent, rounded once; AVX-512 has an instruction for it."""
    b = e.b
    part = "<16 x float>"
    function = "@llvm.x86.avx512.mask.scalef.ps.512"
    b.declare(f"{part} {function}({part}, {part}, {part}, i16, i32)")
    halves = []
    for start in (0, 16):
        picks = ", ".join(f"i32 {n}" for n in range(start, start + 16))
        v, x = (
            b.emit(f"shufflevector {lanes_type('float')} {it.text}, {lanes_type('float')} poison, <16 x i32> <{picks}>")
            for it in (value, exponent)
        )
        halves.append(b.emit(f"call {part} {function}({part} {v}, {part} {x}, {part} zeroinitializer, i16 -1, i32 4)"))
    picks = ", ".join(f"i32 {n}" for n in range(LANES))
    return Value(b.emit(f"shufflevector {part} {halves[0]}, {part} {halves[1]}, <32 x i32> <{picks}>"), "float", True)


def by_helper(name: str) -> Callable[[Emitter, Value], Value]:
    def emit(e: Emitter, x: Value) -> Value:
        place, out = e.spill(x), e.scratch()
        e.call(f"emu_{name}_f32", f"ptr {place}", f"ptr {out}")
        return e.fill(out, "float")

    return emit


APPROXIMATIONS: dict[str, Callable[[Emitter, Value], Value]] = {
    "ex2": exp2,
    "lg2": by_helper("lg2"),
    "sin": by_helper("sin"),
    "cos": by_helper("cos"),
    "tanh": by_helper("tanh"),
}


@semantics("ex2", "lg2", "sin", "cos", "tanh")
def approximations(e: Emitter, i: Instruction) -> None:
    if i.type.bits == 16 or i.type.lanes == 2:
        from emulator.jit.ops import half

        half.unary(e, i)
        return
    value = e.read(i.operands[1], "float")
    if i.has("ftz"):
        value = flush(e, value)
    finish(e, i, APPROXIMATIONS[i.opcode](e, value))


@semantics("copysign")
def copysign(e: Emitter, i: Instruction) -> None:
    """The sign is the first operand's, the magnitude the second's."""
    type_ = register_type(i.type)
    sign, magnitude = e.read(i.operands[1], type_), e.read(i.operands[2], type_)
    e.write(i.operands[0], e.b.intrinsic("copysign", magnitude, sign))


def _is_denormal(e: Emitter, magnitude: Value, least: Value) -> Value:
    b = e.b
    one = b.integer(magnitude.type, 1)
    return b.compare("icmp ult", b.op("sub", magnitude, one), b.op("sub", least, one))


@semantics("testp")
def test_property(e: Emitter, i: Instruction) -> None:
    b = e.b
    type_ = register_type(i.type)
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
