"""Rounds values of f32 and f64: in a direction, denormals to zero, into [0, 1]."""

from __future__ import annotations

from emulator.jit.builder import LANES, Value
from emulator.jit.emitter import Emitter


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
    """Emits min or max: a NaN loses against a number unless ``keep_nan``; -0 is less than +0."""
    name = "max" if largest else "min"
    return e.b.intrinsic(f"{name}imum" if keep_nan else f"{name}imumnum", a, c)


def directed(e: Emitter, nearest: Value, error: Value, mode: str) -> Value:
    """Rounds the double ``nearest``, with an error of sign ``error``, to float as ``mode`` says.

    The modes are toward -inf (rm), +inf (rp) and zero (rz).
    """
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
    """Emits a + c and its exact rounding error."""
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


def directed_operation(e: Emitter, opcode: str, values: list[Value], mode: str) -> Value:
    """Emits add sub mul fma mad div sqrt of floats or doubles, rounded once as ``mode`` (rm, rp, rz) says."""
    emit = _directed_f32 if values[0].type == "float" else _directed_f64
    return emit(e, opcode, values, mode)


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
