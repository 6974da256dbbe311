"""Approximate functions of floats, within the bounds of PTX's manual. Values to values."""

from __future__ import annotations

from collections.abc import Callable

from emulator.jit.builder import LANES, Value, lanes_type
from emulator.jit.emitter import Emitter


def _exp2(e: Emitter, x: Value) -> Value:
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


def _by_helper(name: str) -> Callable[[Emitter, Value], Value]:
    def emit(e: Emitter, x: Value) -> Value:
        place, out = e.spill(x), e.scratch()
        e.call(f"emu_{name}_f32", f"ptr {place}", f"ptr {out}")
        return e.fill(out, "float")

    return emit


APPROXIMATIONS: dict[str, Callable[[Emitter, Value], Value]] = {
    "ex2": _exp2,
    "lg2": _by_helper("lg2"),
    "sin": _by_helper("sin"),
    "cos": _by_helper("cos"),
    "tanh": _by_helper("tanh"),
}
