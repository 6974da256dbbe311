"""setp, set, selp, slct."""

from __future__ import annotations

from emulator.jit.builder import FLOATS, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops import half, rounding
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Instruction, Operand, Pair
from emulator.ptx.types import Kind, ScalarType

_ORDERED = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_UNORDERED = {
    "equ": "ueq",
    "neu": "une",
    "ltu": "ult",
    "leu": "ule",
    "gtu": "ugt",
    "geu": "uge",
    "num": "ord",
    "nan": "uno",
}
_FLOAT = _ORDERED | _UNORDERED
_INTEGER = {
    "eq": "eq",
    "ne": "ne",
    "lt": "lt",
    "le": "le",
    "gt": "gt",
    "ge": "ge",
    "lo": "ult",
    "ls": "ule",
    "hi": "ugt",
    "hs": "uge",
}
_LOGIC = ("and", "or", "xor")


def _compare(e: Emitter, name: str, a: Value, c: Value, signed: bool) -> Value:
    if a.type in FLOATS:
        if name not in _FLOAT:
            raise e.unsupported()
        return e.b.compare(f"fcmp {_FLOAT[name]}", a, c)
    predicate = _INTEGER.get(name)
    if predicate is None:
        raise e.unsupported()
    if predicate in ("lt", "le", "gt", "ge"):
        predicate = ("s" if signed else "u") + predicate
    return e.b.compare(f"icmp {predicate}", a, c)


def _operands(e: Emitter, i: Instruction, scalar: ScalarType) -> list[tuple[Value, Value]]:
    """Returns the pairs to compare: one, or two for packed types."""
    left, right = i.operands[1], i.operands[2]
    if scalar.is_half:
        columns = [half.parts(e, operand, scalar) for operand in (left, right)]
        if i.has("ftz"):
            columns = [[half.flush(e, p) for p in column] for column in columns]
        pairs = zip(*columns, strict=True)
        return [(half.to_float(e, a, scalar.kind), half.to_float(e, c, scalar.kind)) for a, c in pairs]
    type_ = scalar.register
    a, c = e.read(left, type_, signed=scalar.is_signed), e.read(right, type_, signed=scalar.is_signed)
    if i.has("ftz") and type_ == "float":
        a, c = rounding.flush(e, a), rounding.flush(e, c)
    return [(a, c)]


def _combined(e: Emitter, i: Instruction, result: Value) -> Value:
    logic = next((m for m in i.modifiers if m in _LOGIC), None)
    if logic is None:
        return result
    return e.b.op(logic, result, e.read(i.operands[3], "i1"))


@emits("setp")
def setp(e: Emitter, i: Instruction) -> None:
    name, scalar = i.modifiers[0], i.type
    results = [_compare(e, name, a, c, scalar.is_signed) for a, c in _operands(e, i, scalar)]
    target = i.operands[0]
    first: Operand = target.first if isinstance(target, Pair) else target
    if isinstance(target, Pair):
        # Packed: one predicate for each half. Otherwise the second is the comparison's negation.
        other = results[1] if len(results) == 2 else e.b.negate(results[0])
        other = _combined(e, i, other)
        e.write(first, _combined(e, i, results[0]))
        e.write(target.second, other)
    else:
        e.write(first, _combined(e, i, results[0]))


@emits("set")
def set_(e: Emitter, i: Instruction) -> None:
    """Emits a comparison that gives all ones or zero as an integer, 1.0 or 0.0 as a float."""
    b = e.b
    to, source = i.types[0], i.types[1]
    results = [_combined(e, i, _compare(e, i.modifiers[0], a, c, source.is_signed)) for a, c in _operands(e, i, source)]
    if to.register == "float":
        e.write(i.operands[0], b.select(results[0], b.real("float", 1.0), b.real("float", 0.0)))
        return
    if to.is_float:
        one = 0x3C00 if to.kind is Kind.FLOAT else 0x3F80
        patterns = [b.select(r, b.integer("i16", one), b.integer("i16", 0)) for r in results]
        e.write(i.operands[0], half.join(e, patterns))
        return
    if len(results) == 2:
        patterns = [b.select(r, b.integer("i16", -1), b.integer("i16", 0)) for r in results]
        e.write(i.operands[0], half.join(e, patterns))
        return
    type_ = to.register
    e.write(i.operands[0], b.select(results[0], b.integer(type_, -1), b.integer(type_, 0)))


@emits("selp")
def selp(e: Emitter, i: Instruction) -> None:
    type_ = i.type.register
    a, c = e.read(i.operands[1], type_), e.read(i.operands[2], type_)
    e.write(i.operands[0], e.b.select(e.read(i.operands[3], "i1"), a, c), signed=i.type.is_signed)


@emits("slct")
def slct(e: Emitter, i: Instruction) -> None:
    """Emits a selection: the first operand where the third is not negative, else the second."""
    b = e.b
    type_, key = i.types[0].register, i.types[1]
    a, c = e.read(i.operands[1], type_), e.read(i.operands[2], type_)
    if key.is_float:
        value = e.read(i.operands[3], "float")
        value = rounding.flush(e, value) if i.has("ftz") else value
        condition = b.compare("fcmp oge", value, b.real("float", 0.0))
    else:
        condition = b.compare("icmp sge", e.read(i.operands[3], "i32"), b.integer("i32", 0))
    e.write(i.operands[0], b.select(condition, a, c))
