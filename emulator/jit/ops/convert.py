"""cvt: every pair of types, rounding, saturation."""

from __future__ import annotations

from emulator.jit.builder import BITS, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops import half, rounding
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Instruction
from emulator.ptx.types import Kind, ScalarType

_WHOLE = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_DIRECTED = ("rm", "rp", "rz")
_EIGHT_BITS = (Kind.E4M3, Kind.E5M2)


@emits("cvt")
def convert(e: Emitter, i: Instruction) -> None:
    to, source = i.types[0], i.types[1]
    if i.has("pack"):
        _pack_integers(e, i, to)
    elif to.kind in _EIGHT_BITS:
        _to_eight_bits(e, i, to, source)
    elif source.kind in _EIGHT_BITS:
        _from_eight_bits(e, i, to, source)
    elif to.lanes == 2 or len(i.operands) > 2:
        _packed(e, i, to, source)
    elif source.is_float and to.is_float:
        _float_to_float(e, i, to, source)
    elif source.is_float and to.kind is Kind.TFLOAT:
        _to_tf32(e, i)
    elif source.is_float:
        _float_to_integer(e, i, to, source)
    elif to.is_float:
        _integer_to_float(e, i, to, source)
    elif to.is_integer and source.is_integer:
        _integer_to_integer(e, i, to, source)
    else:
        raise e.unsupported()


def _read_float(e: Emitter, i: Instruction, source: ScalarType) -> Value:
    """Returns the operand as a float or double; halves are widened."""
    if source.bits == 16:
        return half.to_float(e, half.parts(e, i.operands[1], source)[0], source.kind)
    value = e.read(i.operands[1], source.register)
    # On its way to f16, the hardware keeps a denormal in spite of .ftz.
    flushed = i.has("ftz") and source.name == "f32" and i.types[0].name != "f16"
    return rounding.flush(e, value) if flushed else value


def _mode(i: Instruction, names: tuple[str, ...]) -> str | None:
    return next((m for m in i.modifiers if m in names), None)


def _narrow(e: Emitter, value: Value, to: ScalarType, mode: str | None) -> Value:
    """Returns a float or double converted to ``to``, as the register's bits."""
    b = e.b
    if to.bits == 16:
        if mode in _DIRECTED:
            wide = value if value.type == "double" else b.cast("fpext", value, "double")
            slot, out = e.spill(wide), e.scratch()
            e.call(
                "emu_narrow16",
                f"i32 {int(to.kind is Kind.BFLOAT)}",
                f"i32 {_DIRECTED.index(str(mode))}",
                f"ptr {slot}",
                f"ptr {out}",
            )
            return e.fill(out, "i16")
        return half.from_double(e, value, to.kind) if value.type == "double" else half.from_float(e, value, to.kind)
    if to.bits == 32 and value.type == "double":
        if mode in _DIRECTED:
            return rounding.directed(e, value, b.real("double", 0.0), str(mode))
        return b.cast("fptrunc", value, "float")
    if to.bits == 64 and value.type == "float":
        return b.cast("fpext", value, "double")
    return value


def _finite(e: Emitter, i: Instruction, bits: Value, to: ScalarType) -> Value:
    """``.satfinite``: the largest number in place of an infinity. ``bits`` are those of an f16 or bf16."""
    b = e.b
    if not i.has("satfinite"):
        return bits
    infinity = b.integer("i16", 0x7F80 if to.kind is Kind.BFLOAT else 0x7C00)
    infinite = b.compare("icmp eq", b.op("and", bits, b.integer("i16", 0x7FFF)), infinity)
    return b.select(infinite, b.op("sub", bits, b.integer("i16", 1)), bits)


def _pack_integers(e: Emitter, i: Instruction, to: ScalarType) -> None:
    """cvt.pack d, a, b, c: a and b saturated and put together, a above b, and what fits of c above them."""
    b = e.b
    least = -(1 << (to.bits - 1)) if to.is_signed else 0
    most = (1 << (to.bits - 1)) - 1 if to.is_signed else (1 << to.bits) - 1
    parts = []
    for operand in i.operands[1:3]:
        value = b.intrinsic("smax", e.read(operand, "i32"), b.integer("i32", least))
        value = b.intrinsic("smin", value, b.integer("i32", most))
        parts.append(b.op("and", value, b.integer("i32", (1 << to.bits) - 1)))
    result = b.op("or", b.op("shl", parts[0], b.integer("i32", to.bits)), parts[1])
    if len(i.operands) > 3:
        result = b.op("or", result, b.op("shl", e.read(i.operands[3], "i32"), b.integer("i32", 2 * to.bits)))
    e.write(i.operands[0], result)


def _float_to_float(e: Emitter, i: Instruction, to: ScalarType, source: ScalarType) -> None:
    b = e.b
    value = _read_float(e, i, source)
    whole = _mode(i, tuple(_WHOLE))
    if whole is not None:
        value = b.intrinsic(_WHOLE[whole], value)
    if i.has("sat"):
        value = rounding.saturate(e, value)
    if i.has("relu"):
        value = b.select(b.compare("fcmp ole", value, b.real(value.type, 0.0)), b.real(value.type, 0.0), value)
    result = _finite(e, i, _narrow(e, value, to, _mode(i, _DIRECTED)), to)
    if i.has("ftz") and result.type == "float":
        result = rounding.flush(e, result)
    e.write(i.operands[0], result)


def _to_tf32(e: Emitter, i: Instruction) -> None:
    """To 10 mantissa bits, ties away from zero (rna) or to even (rn)."""
    b = e.b
    bits = e.read(i.operands[1], "i32")
    value = b.bitcast(bits, "float")
    add = b.integer("i32", 0x1000)
    if i.has("rn"):
        odd = b.op("and", b.op("lshr", bits, b.integer("i32", 13)), b.integer("i32", 1))
        add = b.op("add", odd, b.integer("i32", 0xFFF))
    elif i.has("rz"):
        add = b.integer("i32", 0)
    rounded = b.op("and", b.op("add", bits, add), b.integer("i32", 0xFFFFE000))
    special = b.compare("icmp uge", b.op("and", bits, b.integer("i32", 0x7FFFFFFF)), b.integer("i32", 0x7F800000))
    nan = b.select(b.compare("fcmp uno", value, value), b.integer("i32", 0x7FFFFFFF), bits)
    result = b.select(special, nan, rounded)
    if i.has("satfinite"):
        infinite = b.compare("icmp eq", b.op("shl", result, b.integer("i32", 1)), b.integer("i32", 0xFF000000))
        result = b.select(infinite, b.op("sub", result, b.integer("i32", 0x2000)), result)
    e.write(i.operands[0], result)


def _float_to_integer(e: Emitter, i: Instruction, to: ScalarType, source: ScalarType) -> None:
    """Clamped to the range; NaN gives 0, or the top bit alone where either type has 64 bits."""
    b = e.b
    value = _read_float(e, i, source)
    whole = _mode(i, tuple(_WHOLE))
    if whole in ("rni", "rmi", "rpi"):
        value = b.intrinsic(_WHOLE[whole], value)
    name = "fptosi.sat" if to.is_signed else "fptoui.sat"
    result = b.intrinsic(name, value, result=f"i{to.bits}")
    if 64 in (to.bits, source.bits):
        nan = b.compare("fcmp uno", value, value)
        result = b.select(nan, b.integer(f"i{to.bits}", 1 << (to.bits - 1)), result)
    e.write(i.operands[0], result, signed=to.is_signed)


def _integer_to_float(e: Emitter, i: Instruction, to: ScalarType, source: ScalarType) -> None:
    b = e.b
    value = e.read(i.operands[1], source.register, signed=source.is_signed)
    name = "sitofp" if source.is_signed else "uitofp"
    mode = _mode(i, _DIRECTED)
    if to.bits == 64:
        if mode is not None and source.bits == 64:
            slot, out = e.spill(value), e.scratch()
            e.call(
                "emu_int_to_f64",
                f"i32 {int(source.is_signed)}",
                f"i32 {_DIRECTED.index(mode)}",
                f"ptr {slot}",
                f"ptr {out}",
            )
            result = e.fill(out, "double")
        else:
            result = b.cast(name, value, "double")
    elif source.bits <= 32 and (mode is not None or to.bits == 16):
        result = _narrow(e, b.cast(name, value, "double"), to, mode)  # a 32-bit integer is exact in double
    elif source.bits <= 32 or (mode is None and to.bits == 32):
        result = b.cast(name, value, "float")
    else:
        slot, out = e.spill(value), e.scratch()
        code = _DIRECTED.index(mode) if mode else 3
        kind = 0 if to.bits == 32 else 2 if to.kind is Kind.BFLOAT else 1
        e.call(
            "emu_int64_narrow",
            f"i32 {kind}",
            f"i32 {int(source.is_signed)}",
            f"i32 {code}",
            f"ptr {slot}",
            f"ptr {out}",
        )
        result = e.fill(out, "float" if to.bits == 32 else "i16")
    if i.has("sat"):
        # Of whole numbers: none to 0, all others to 1.
        positive = b.compare("icmp sgt" if source.is_signed else "icmp ne", value, b.integer(value.type, 0))
        result = _narrow(e, b.cast("uitofp", positive, "float"), to, None)
    e.write(i.operands[0], result)


def _integer_to_integer(e: Emitter, i: Instruction, to: ScalarType, source: ScalarType) -> None:
    b = e.b
    value = e.read(i.operands[1], source.register, signed=source.is_signed)
    target = to.register
    if i.has("sat"):
        wide = f"i{2 * max(to.bits, source.bits)}"
        if wide == "i128":
            value = _saturate64(e, value, to, source)
        else:
            value = b.resize(value, wide, signed=source.is_signed)
            least = -(1 << (to.bits - 1)) if to.is_signed else 0
            most = (1 << (to.bits - 1)) - 1 if to.is_signed else (1 << to.bits) - 1
            value = b.intrinsic("smin", b.intrinsic("smax", value, b.integer(wide, least)), b.integer(wide, most))
    result = b.resize(value, target, signed=source.is_signed)
    e.write(i.operands[0], result, signed=to.is_signed)


def _saturate64(e: Emitter, value: Value, to: ScalarType, source: ScalarType) -> Value:
    """Where source or target has 64 bits."""
    b = e.b
    value = b.resize(value, "i64", signed=source.is_signed)
    most = (1 << (to.bits - 1)) - 1 if to.is_signed else (1 << to.bits) - 1
    if not source.is_signed:
        return b.intrinsic("umin", value, b.integer("i64", most))
    least = -(1 << (to.bits - 1)) if to.is_signed else 0
    value = b.intrinsic("smax", value, b.integer("i64", least))
    return value if most >> 63 else b.intrinsic("smin", value, b.integer("i64", most))


def _packed(e: Emitter, i: Instruction, to: ScalarType, source: ScalarType) -> None:
    """cvt.f16x2.f32 d, a, b: a is the upper half."""
    b = e.b
    if not to.is_float or source.name != "f32" or to.lanes != 2 or len(i.operands) != 3:
        raise e.unsupported()
    mode = _mode(i, _DIRECTED)
    patterns = []
    for operand in (i.operands[2], i.operands[1]):
        value = e.read(operand, "float")
        if i.has("relu"):
            value = b.select(b.compare("fcmp ole", value, b.real("float", 0.0)), b.real("float", 0.0), value)
        patterns.append(_finite(e, i, _narrow(e, value, to.element, mode), to.element))
    assert all(BITS[p.type] == 16 for p in patterns)
    e.write(i.operands[0], half.join(e, patterns))


def _eight_bits_code(i: Instruction, scalar: ScalarType) -> str:
    return f"i32 {int(scalar.kind is Kind.E5M2) | int(i.has('relu')) << 1}"


def _to_eight_bits(e: Emitter, i: Instruction, to: ScalarType, source: ScalarType) -> None:
    """cvt.rn.satfinite.e4m3x2.f32 d, a, b, where a is the upper half; cvt.rn.satfinite.e4m3x2.f16x2 d, a."""
    if to.lanes != 2 or not (i.has("rn") and i.has("satfinite")):
        raise e.unsupported()
    if source.name == "f32" and len(i.operands) == 3:
        low, high = (e.read(operand, "float") for operand in (i.operands[2], i.operands[1]))
    elif source.name == "f16x2":
        low, high = (half.to_float(e, part, source.kind) for part in half.parts(e, i.operands[1], source))
    else:
        raise e.unsupported()
    out = e.scratch()
    e.call("emu_to_eight_bits", _eight_bits_code(i, to), f"ptr {e.spill(low, high)}", f"ptr {out}")
    e.write(i.operands[0], e.fill(out, "i16"))


def _from_eight_bits(e: Emitter, i: Instruction, to: ScalarType, source: ScalarType) -> None:
    """cvt.rn.f16x2.e4m3x2 d, a."""
    if to.name != "f16x2" or source.lanes != 2:
        raise e.unsupported()
    out = e.scratch()
    pair = e.spill(e.read(i.operands[1], "i16"))
    e.call("emu_from_eight_bits", _eight_bits_code(i, source), f"ptr {pair}", f"ptr {out}")
    e.write(i.operands[0], e.fill(out, "i32"))
