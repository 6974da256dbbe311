"""Approximate functions of floats, within the bounds of PTX's manual. Values to values."""

from __future__ import annotations

from collections.abc import Callable

from emulator.jit.builder import LANES, Value, lanes_type
from emulator.jit.emitter import Emitter
from emulator.jit.ops.rounding import flush


def exp2(e: Emitter, x: Value, *, ftz: bool = False) -> Value:
    """2**x to about one unit in the last place, denormal results included unless ``ftz``.

    A denormal x gives 1 in any case.
    """
    b = e.b
    if e.unit.wide_vectors and x.vector:
        return _exp2_wide(e, x, ftz=ftz)
    x = b.select(b.compare("fcmp ogt", x, b.real("float", 129.0)), b.real("float", 129.0), x)  # NaN stays
    x = b.select(b.compare("fcmp olt", x, b.real("float", -152.0)), b.real("float", -152.0), x)
    whole = b.intrinsic("rint", x)
    result = _exp2_of_fraction(e, b.op("fsub", x, whole))
    number = b.select(b.compare("fcmp uno", x, x), b.real("float", 0.0), whole)
    exponent = b.cast("fptosi", number, "i32")
    half = b.op("ashr", exponent, b.integer("i32", 1))
    for part in (half, b.op("sub", exponent, half)):
        scale = b.op("shl", b.op("add", part, b.integer("i32", 127)), b.integer("i32", 23))
        result = b.op("fmul", result, b.bitcast(scale, "float"))
    return flush(e, result) if ftz else result


def _exp2_of_fraction(e: Emitter, fraction: Value) -> Value:
    """Returns 2**x for x in [-1/2, 1/2]."""
    b = e.b
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
    return result


def _exp2_wide(e: Emitter, x: Value, *, ftz: bool) -> Value:
    """AVX-512 takes a number apart, whose fraction is 0 for infinities, and puts it together, rounding once."""
    whole = e.b.intrinsic("rint", x)
    result = _exp2_of_fraction(e, _by_halves(e, "reduce", (x,), "i32 8", mask=None))
    # The result is normal from -126 on. A NaN stays.
    normal = e.b.compare("fcmp uge", x, e.b.real("float", -126.0)) if ftz else None
    return _by_halves(e, "scalef", (result, whole), "", mask=normal)


def _by_halves(e: Emitter, name: str, values: tuple[Value, ...], control: str, *, mask: Value | None) -> Value:
    """An AVX-512 instruction for floats on 16 lanes at a time; zero where ``mask`` does not hold."""
    b = e.b
    part, wide = "<16 x float>", lanes_type("float")
    parameters = [part] * len(values) + (["i32"] if control else []) + [part, "i16", "i32"]
    function = f"@llvm.x86.avx512.mask.{name}.ps.512"
    b.declare(f"{part} {function}({', '.join(parameters)})")
    bits = b.ballot(mask) if mask is not None else None
    halves = []
    for start in (0, 16):
        picks = ", ".join(f"i32 {n}" for n in range(start, start + 16))
        taken = [
            f"{part} " + b.emit(f"shufflevector {wide} {v.text}, {wide} poison, <16 x i32> <{picks}>") for v in values
        ]
        lanes = "-1"
        if bits is not None:
            lanes = b.resize(b.op("lshr", bits, b.integer("i32", start)), "i16").text
        arguments = [*taken, *([control] if control else []), f"{part} zeroinitializer", f"i16 {lanes}", "i32 4"]
        halves.append(b.emit(f"call {part} {function}({', '.join(arguments)})"))
    picks = ", ".join(f"i32 {n}" for n in range(LANES))
    return Value(b.emit(f"shufflevector {part} {halves[0]}, {part} {halves[1]}, <32 x i32> <{picks}>"), "float", True)


def _by_helper(name: str) -> Callable[[Emitter, Value], Value]:
    def emit(e: Emitter, x: Value) -> Value:
        place, out = e.spill(x), e.scratch()
        e.call(f"emu_{name}_f32", f"ptr {place}", f"ptr {out}")
        return e.fill(out, "float")

    return emit


APPROXIMATIONS: dict[str, Callable[[Emitter, Value], Value]] = {
    "ex2": exp2,
    "lg2": _by_helper("lg2"),
    "sin": _by_helper("sin"),
    "cos": _by_helper("cos"),
    "tanh": _by_helper("tanh"),
}
