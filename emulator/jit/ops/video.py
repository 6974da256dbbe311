"""Video instructions of one result: parts of operands, an operation in more than 32 bits, saturation, merging.

Formulas are those of the PTX manual (chapter "Video Instructions"). Which parts of registers an instruction takes, and
which operands it negates, its modifiers say (``a.b0``, ``c.neg``), where ``ptx.body`` puts them.
"""

from __future__ import annotations

from emulator.jit.builder import Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.integer import part
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Instruction
from emulator.ptx.types import ScalarType

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_WIDE = "i64"  # holds sums and differences of what has 33 bits
_WIDEST = "i128"  # holds products and shifts of it


def _selected(i: Instruction, operand: str) -> tuple[int, int] | None:
    """Returns (bits, number) of the part of ``operand`` (``a``, ``b`` or ``d``); None for all of it."""
    found = next((m for m in i.modifiers if m[:3] in (f"{operand}.b", f"{operand}.h")), None)
    return None if found is None else (8 if found[2] == "b" else 16, int(found[3]))


def _source(e: Emitter, i: Instruction, number: int, scalar: ScalarType, wide: str) -> Value:
    """Returns operand ``number``, or the part of it that is meant, extended to ``wide``."""
    value = e.read(i.operands[number], "i32")
    selected = _selected(i, "dabc"[number])
    if selected is not None:
        bits, at = selected
        value = part(e, value, at, bits, scalar.is_signed)
    return e.b.resize(value, wide, signed=scalar.is_signed)


def _clamped(e: Emitter, value: Value, bits: int, signed: bool) -> Value:
    """Returns a signed number, brought into the range of ``bits`` bits."""
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    value = e.b.intrinsic("smax", value, e.b.integer(value.type, least))
    return e.b.intrinsic("smin", value, e.b.integer(value.type, most))


def _finish(e: Emitter, i: Instruction, result: Value, signed: bool) -> None:
    """Saturates the result, combines it with the third source, or puts it in place of a part of that."""
    b = e.b
    selected = _selected(i, "d")
    if i.has("sat"):
        result = _clamped(e, result, selected[0] if selected else 32, signed)
    if len(i.operands) > 3:
        third = e.read(i.operands[3], "i32")
        other = b.resize(third, result.type, signed=signed)
        if i.has("add"):
            result = b.op("add", result, other)
        elif i.has("min") or i.has("max"):
            result = b.intrinsic("smin" if i.has("min") else "smax", result, other)
        elif selected is not None:
            bits, at = selected
            mask = (1 << bits) - 1
            inside = b.op("and", b.resize(result, "i32"), b.integer("i32", mask))
            inside = b.op("shl", inside, b.integer("i32", bits * at))
            result = b.op("or", inside, b.op("and", third, b.integer("i32", ~(mask << bits * at))))
        else:
            raise e.unsupported()
    elif selected is not None:
        raise e.unsupported()
    e.write(i.operands[0], b.resize(result, "i32"))


@emits("vadd", "vsub", "vabsdiff", "vmin", "vmax")
def combine(e: Emitter, i: Instruction) -> None:
    b = e.b
    to, first, second = i.types
    x, y = _source(e, i, 1, first, _WIDE), _source(e, i, 2, second, _WIDE)
    match i.opcode:
        case "vadd":
            result = b.op("add", x, y)
        case "vsub":
            result = b.op("sub", x, y)
        case "vabsdiff":
            result = b.intrinsic("abs", b.op("sub", x, y), extra=("i1 false",))
        case _:
            result = b.intrinsic("s" + i.opcode[1:], x, y)
    _finish(e, i, result, to.is_signed)


@emits("vset")
def compare(e: Emitter, i: Instruction) -> None:
    """Emits a comparison, whose result is 1 or 0: an unsigned number."""
    first, second = i.types
    name = next(m for m in i.modifiers if m in _COMPARISONS)
    predicate = name if name in ("eq", "ne") else f"s{name}"
    met = e.b.compare(f"icmp {predicate}", _source(e, i, 1, first, _WIDE), _source(e, i, 2, second, _WIDE))
    _finish(e, i, e.b.resize(met, _WIDE), signed=False)


@emits("vshl", "vshr")
def shift(e: Emitter, i: Instruction) -> None:
    b = e.b
    to, first, second = i.types
    x, count = _source(e, i, 1, first, _WIDEST), _source(e, i, 2, second, _WIDEST)
    if i.has("clamp"):
        count = b.intrinsic("umin", count, b.integer(_WIDEST, 32))
    else:
        count = b.op("and", count, b.integer(_WIDEST, 31))
    _finish(e, i, b.op("shl" if i.opcode == "vshl" else "ashr", x, count), to.is_signed)


@emits("vmad")
def multiply_add(e: Emitter, i: Instruction) -> None:
    """Emits the product plus the third source; what is negated is complemented, and one added."""
    b = e.b
    _, first, second = i.types
    negates_product, negates_third = i.has("a.neg") != i.has("b.neg"), i.has("c.neg")
    signed = first.is_signed or second.is_signed or negates_product or negates_third
    result = b.op("mul", _source(e, i, 1, first, _WIDEST), _source(e, i, 2, second, _WIDEST))
    third = e.read(i.operands[3], "i32")
    if negates_product:
        result = b.op("xor", result, b.integer(_WIDEST, -1))
    elif negates_third:
        third = b.op("xor", third, b.integer("i32", -1))
    result = b.op("add", result, b.resize(third, _WIDEST, signed=signed))
    if i.has("po") or negates_product or negates_third:
        result = b.op("add", result, b.integer(_WIDEST, 1))
    scale = 7 if i.has("shr7") else 15 if i.has("shr15") else 0
    result = b.op("ashr", result, b.integer(_WIDEST, scale))
    if i.has("sat"):
        # What the manual saturates has 64 bits.
        result = b.resize(b.resize(result, "i64"), _WIDEST, signed=signed)
        result = _clamped(e, result, 32, signed)
    e.write(i.operands[0], b.resize(result, "i32"))


@emits("istypep")
def is_opaque(e: Emitter, i: Instruction) -> None:
    """Emits: no address is that of a texture, sampler or surface reference, since modules have none here."""
    e.write(i.operands[0], e.b.integer("i1", 0))
