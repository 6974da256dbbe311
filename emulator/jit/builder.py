"""Writes LLVM IR as text: values that are one scalar for the warp, or a vector of its 32 lanes.

Text, because llvmlite's own IR classes take longer to print than LLVM takes to compile. Operations of a scalar and a
vector broadcast the scalar, so instruction semantics are written once for both.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from records import dataclass

LANES = 32
BITS = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "half": 16, "i32": 32, "float": 32, "i64": 64, "double": 64, "i128": 128}
SIZE = {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "i128": 16}
FLOATS = frozenset(("half", "float", "double"))
_SUFFIX = {"float": "f32", "double": "f64", "half": "f16"}


@dataclass(frozen=True, slots=True)
class Value:
    """``text`` is an SSA name or a scalar literal; a literal is broadcast when it is used beside a vector."""

    text: str
    type: str  # of one lane
    vector: bool = False

    @property
    def is_literal(self) -> bool:
        return self.text[0] != "%"


def lanes_type(scalar: str) -> str:
    """Returns the LLVM type of a register that has a value for each of the 32 lanes."""
    return f"<{LANES} x {scalar}>"


def float_literal(value: float) -> str:
    """Returns an LLVM literal for a float or double (a float's value must be exactly representable)."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def bits_literal(type_: str, bits: int) -> str:
    """Returns the literal of ``type_`` with this bit pattern."""
    if type_ == "double":
        return f"0x{bits:016X}"
    if type_ == "float":
        if (bits & 0x7F800000) == 0x7F800000 and bits & 0x7FFFFF:
            # LLVM wants a NaN widened by hand: sign, all-ones exponent, payload on top.
            wide = (bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
            return f"0x{wide:016X}"
        return float_literal(struct.unpack("<f", struct.pack("<I", bits))[0])
    if type_ == "half":
        return f"0xH{bits:04X}"
    return str(bits)


class Builder:
    """One LLVM function's text. ``declarations`` are shared by the functions of a module."""

    def __init__(self, declarations: set[str]) -> None:
        self.lines: list[str] = []
        self._declarations = declarations
        self._count = 0
        self._splats: dict[str, str] = {}
        self.current_label = "entry"

    # -------------------------------------------------------------------------------------------------- raw text
    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        self.lines.append(name + ":")
        self.current_label = name
        self._splats.clear()

    def fresh(self, prefix: str = "v") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def emit(self, text: str) -> str:
        name = "%" + self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def compiler_barrier(self) -> None:
        """Emits a fence that the compiler moves no access across."""
        self.line('fence syncscope("singlethread") seq_cst')

    def declare(self, text: str) -> None:
        self._declarations.add("declare " + text)

    # ----------------------------------------------------------------------------------------------------- values
    def integer(self, type_: str, value: int) -> Value:
        bits = BITS[type_]
        if bits == 1:
            return Value("true" if value & 1 else "false", type_)
        value &= (1 << bits) - 1
        return Value(str(value - (1 << bits) if value >> (bits - 1) else value), type_)

    def real(self, type_: str, value: float) -> Value:
        if type_ == "float":
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        return Value(float_literal(value), type_)

    def bits(self, type_: str, pattern: int) -> Value:
        return Value(bits_literal(type_, pattern), type_) if type_ in FLOATS else self.integer(type_, pattern)

    def vector_literal(self, type_: str, values: Iterable[int]) -> Value:
        """A constant per lane."""
        items = ", ".join(f"{type_} {self.integer(type_, v).text}" for v in values)
        return Value(
            self.emit(f"select i1 true, {lanes_type(type_)} <{items}>, {lanes_type(type_)} zeroinitializer"),
            type_,
            True,
        )

    def type_of(self, value: Value) -> str:
        return lanes_type(value.type) if value.vector else value.type

    def spread(self, value: Value) -> str:
        """The text of ``value`` as a vector operand."""
        if value.vector:
            return value.text
        if value.is_literal:
            return f"splat ({value.type} {value.text})"
        known = self._splats.get(value.text)
        if known is None:
            wide = lanes_type(value.type)
            single = self.emit(f"insertelement {wide} poison, {value.type} {value.text}, i32 0")
            known = self.emit(f"shufflevector {wide} {single}, {wide} poison, <{LANES} x i32> zeroinitializer")
            self._splats[value.text] = known
        return known

    def _level(self, *values: Value) -> tuple[bool, list[str]]:
        vector = any(v.vector for v in values)
        return vector, [self.spread(v) if vector else v.text for v in values]

    def op(self, name: str, *values: Value) -> Value:
        """Emits an instruction whose operands and result have one type, such as ``add``, ``fmul`` or ``fneg``."""
        vector, texts = self._level(*values)
        type_ = values[0].type
        return Value(self.emit(f"{name} {lanes_type(type_) if vector else type_} {', '.join(texts)}"), type_, vector)

    def cast(self, name: str, value: Value, type_: str) -> Value:
        text = value.text
        source, target = self.type_of(value), lanes_type(type_) if value.vector else type_
        return Value(self.emit(f"{name} {source} {text} to {target}"), type_, value.vector)

    def bitcast(self, value: Value, type_: str) -> Value:
        return value if value.type == type_ else self.cast("bitcast", value, type_)

    def resize(self, value: Value, type_: str, *, signed: bool = False) -> Value:
        """An integer at another width."""
        have, want = BITS[value.type], BITS[type_]
        if have == want:
            return value
        return self.cast("trunc" if want < have else "sext" if signed else "zext", value, type_)

    def compare(self, name: str, a: Value, b: Value) -> Value:
        """Emits a comparison, such as ``icmp eq`` or ``fcmp olt``; the result is of i1."""
        vector, texts = self._level(a, b)
        type_ = lanes_type(a.type) if vector else a.type
        return Value(self.emit(f"{name} {type_} {texts[0]}, {texts[1]}"), "i1", vector)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        vector = condition.vector or a.vector or b.vector
        if not vector:
            return Value(self.emit(f"select i1 {condition.text}, {a.type} {a.text}, {b.type} {b.text}"), a.type)
        wide = lanes_type(a.type)
        chosen = f"{lanes_type('i1')} {condition.text}" if condition.vector else f"i1 {condition.text}"
        return Value(self.emit(f"select {chosen}, {wide} {self.spread(a)}, {wide} {self.spread(b)}"), a.type, True)

    def negate(self, condition: Value) -> Value:
        return self.op("xor", condition, self.integer("i1", 1))

    def intrinsic(self, name: str, *values: Value, result: str | None = None, extra: Sequence[str] = ()) -> Value:
        """Emits a call of ``llvm.<name>``, overloaded on the operands' type.

        ``extra`` are trailing immediate arguments (``i1 false``).
        """
        vector, texts = self._level(*values)
        type_ = values[0].type
        out = result or type_
        wide = (lambda t: lanes_type(t)) if vector else (lambda t: t)
        lanes = f"v{LANES}" if vector else ""
        suffix = f".{lanes}{_SUFFIX.get(out, out)}" if result else ""
        function = f"@llvm.{name}{suffix}.{lanes}{_SUFFIX.get(type_, type_)}"
        kinds = [wide(v.type) for v in values] + [e.split()[0] for e in extra]
        self.declare(f"{wide(out)} {function}({', '.join(kinds)})")
        arguments = [f"{wide(v.type)} {t}" for v, t in zip(values, texts, strict=True)] + list(extra)
        return Value(self.emit(f"call {wide(out)} {function}({', '.join(arguments)})"), out, vector)

    def ballot(self, condition: Value) -> Value:
        """i32 with a bit per lane."""
        if not condition.vector:
            return Value(self.emit(f"sext i1 {condition.text} to i32"), "i32")
        return Value(self.emit(f"bitcast {lanes_type('i1')} {condition.text} to i32"), "i32")

    def unballot(self, mask: Value) -> Value:
        return Value(self.emit(f"bitcast i32 {mask.text} to {lanes_type('i1')}"), "i1", True)

    def extract(self, value: Value, lane: int | Value) -> Value:
        if not value.vector:
            return value
        index = str(lane) if isinstance(lane, int) else lane.text
        return Value(self.emit(f"extractelement {lanes_type(value.type)} {value.text}, i32 {index}"), value.type)

    def shuffle(self, value: Value, lanes: Sequence[int]) -> Value:
        picked = ", ".join(f"i32 {i}" for i in lanes)
        wide = lanes_type(value.type)
        return Value(
            self.emit(f"shufflevector {wide} {value.text}, {wide} poison, <{LANES} x i32> <{picked}>"), value.type, True
        )

    # ----------------------------------------------------------------------------------------------------- memory
    def offset(self, pointer: str, bytes_: int) -> str:
        return pointer if not bytes_ else self.emit(f"getelementptr i8, ptr {pointer}, i64 {bytes_}")

    def pointer(self, address: Value) -> str:
        return self.emit(f"inttoptr i64 {address.text} to ptr")

    def load(self, type_: str, pointer: str, align: int, *, note: str = "", volatile: bool = False) -> str:
        return self.emit(f"load {'volatile ' if volatile else ''}{type_}, ptr {pointer}, align {align}{note}")

    def store(self, type_: str, text: str, pointer: str, align: int, *, volatile: bool = False) -> None:
        self.line(f"store {'volatile ' if volatile else ''}{type_} {text}, ptr {pointer}, align {align}")
