"""The interface for emitting instructions: operands, results, active lanes, scratch space, helper calls.

Two subclasses emit the two functions of a kernel: ``UniformFunction`` (all 32 lanes together) and
``MaskedFunction`` (the lanes of a mask). A register's value is kept as an SSA value within a block and written back at
its end.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from emulator.jit.abi import Access, Space
from emulator.jit.access_groups import AccessGroup
from emulator.jit.builder import BITS, FLOATS, LANES, SIZE, Builder, Value, lanes_type
from emulator.jit.shapes import Shape
from emulator.jit.unit import Unit
from emulator.jit.warp_context import LOCAL, PARAMS, SYMBOLS
from emulator.ptx.effects import has_result
from emulator.ptx.errors import Unsupported
from emulator.ptx.ir import Imm, Instruction, Operand, Reg, Sink, Special, Sym

SCRATCH_BYTES = 64 * LANES  # one slot: a vector of up to eight 64-bit words per lane
INVARIANT = ", !invariant.load !0"


class Emitter(ABC):
    """Emits the body of one function. ``b`` is the text builder."""

    is_uniform: bool

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.b = Builder(unit.declarations)
        self.program = unit.program
        self.offset_base = False  # reading operands of an instruction whose result keeps offsets: bases only
        self.access_groups: dict[int, tuple[AccessGroup, int]] = {}  # see ``access_groups_of``; of the current block
        self.origins: Mapping[str, int] = {}  # where those of registers lie that are followed (``origins``)
        self.has_met: Value | None = None  # (i1) the lanes come to a .sync instruction with its results
        self._scratch_used = 0
        self._registers = {name: scalar.register for name, scalar in unit.program.registers.items()}
        self._current: dict[str, Value] = {}
        self._dirty: set[str] = set()

    # ------------------------------------------------------------------------------------------- of the subclasses
    @abstractmethod
    def load_register(self, name: str) -> Value:
        """Returns the register's value at the start of the block: a scalar, a base without offsets, or a vector."""

    @abstractmethod
    def shape_of(self, name: str) -> Shape | None:
        """Returns the register's shape; None for one that is kept as a vector."""

    @abstractmethod
    def special_register(self, name: str) -> Value:
        """Emits the read of a special register."""

    @abstractmethod
    def block_lanes(self) -> Value | None:
        """Returns the lanes that execute this block; None when all 32 do."""

    # --------------------------------------------------------------------------------------------------- operands
    def read(self, operand: Operand, type_: str, *, signed: bool = False) -> Value:
        """Returns ``operand`` as ``type_``: bits reinterpreted, wider registers truncated, narrower ones extended."""
        if isinstance(operand, Imm):
            return self.immediate(operand, type_)
        if isinstance(operand, Reg):
            value = self.register(operand.name)
            if operand.negated:
                value = self.b.negate(value)
        elif isinstance(operand, Special):
            value = self.special_register(operand.name)
        elif isinstance(operand, Sym):
            value = self.symbol(operand)
        else:
            raise AssertionError(operand)
        return self.convert(value, type_, signed=signed)

    def convert(self, value: Value, type_: str, *, signed: bool = False) -> Value:
        """Returns the same bits at another type; integer widths are adjusted."""
        if value.type == type_:
            return value
        b = self.b
        if value.type in FLOATS:
            value = b.bitcast(value, f"i{BITS[value.type]}")
        value = b.resize(value, f"i{BITS[type_]}", signed=signed)
        return b.bitcast(value, type_)

    def constant(self, operand: Operand) -> int | None:
        """Returns the integer that ``operand`` always is; None where that is unknown."""
        if isinstance(operand, Imm) and not operand.float_bits:
            return operand.value
        return self.unit.shapes.constants.get(operand.name) if isinstance(operand, Reg) else None

    def immediate(self, operand: Imm, type_: str) -> Value:
        pattern = operand.value
        if operand.float_bits and operand.float_bits != BITS[type_]:
            pattern = _refloat(pattern, operand.float_bits, BITS[type_])
        return self.b.bits(type_, pattern & ((1 << BITS[type_]) - 1))

    def register(self, name: str) -> Value:
        """Returns a register as a scalar or vector; a base gets its offsets added unless ``offset_base`` is set."""
        value = self._raw(name)
        shape = self.shape_of(name)
        if shape is None or shape.is_uniform or self.offset_base:
            return value
        return self.with_offsets(value, shape.offsets)

    def _raw(self, name: str) -> Value:
        value = self._current.get(name)
        if value is None:
            value = self._current[name] = self.load_register(name)
        return value

    def with_offsets(self, base: Value, offsets: Sequence[int]) -> Value:
        if not any(offsets):
            return self.materialise(base)
        mask = (1 << BITS[base.type]) - 1
        items = ", ".join(f"{base.type} {self.b.integer(base.type, o & mask).text}" for o in offsets)
        text = self.b.emit(f"add {lanes_type(base.type)} {self.b.spread(base)}, <{items}>")
        return Value(text, base.type, True)

    def write(self, operand: Operand, value: Value, *, signed: bool = False) -> None:
        """Writes a register; lanes whose guard is false keep the old value."""
        if isinstance(operand, Sink):
            return
        if not isinstance(operand, Reg):
            raise TypeError(f"{operand} cannot be written")
        name = operand.name
        value = self.convert(value, self._registers[name], signed=signed)
        shape = self.shape_of(name)
        if shape is None:
            value = self.materialise(value)
        elif value.vector:
            assert shape.is_uniform, (name, self.instruction.name)
            value = self.b.extract(value, 0) if self.block_lanes() is None else self.first(value)
        if self._guard is not None:
            value = self.b.select(self._guard, value, self._raw(name))
        self._current[name] = value
        self._dirty.add(name)

    def spoil_absent(self, instruction: Instruction, source: Value, value: Value, exempt: Value | None = None) -> Value:
        """Returns a shuffle's result with undefined numbers where the lane it comes from takes no part.

        ``source``: for each lane the one that it reads. ``exempt`` (i1): the results are right as they are.
        """
        b = self.b
        here, mask = self.active_bits(), self.read(instruction.operands[-1], "i32")
        zero = b.integer("i32", 0)
        present = b.op("and", b.op("lshr", b.op("and", here, mask), source), b.integer("i32", 1))
        absent = b.op("and", here, b.ballot(b.compare("icmp eq", present, zero)))
        bad = b.compare("icmp ne", absent, zero)
        if exempt is not None:
            bad = b.op("and", bad, b.negate(exempt))
        value = self.materialise(value)
        label, before = b.fresh("u"), b.current_label
        b.line(f"br i1 {bad.text}, label %{label}y, label %{label}n, !prof !2")
        b.label(f"{label}y")
        out = self.spill(value)
        site = self.unit.site(instruction, Access.NONE, Space.GENERIC, 1)
        arguments = (f"i32 {site}", f"i32 {absent.text}", f"ptr {self.spill(source)}", f"ptr {self.spill(mask)}")
        self.call("emu_shuffle_absent", "ptr %ctx", *arguments, f"ptr {out}")
        spoiled = self.fill(out, "i32")
        end = b.current_label
        b.line(f"br label %{label}n")
        b.label(f"{label}n")
        text = b.emit(f"phi {lanes_type('i32')} [ {spoiled.text}, %{end} ], [ {value.text}, %{before} ]")
        return Value(text, "i32", True)

    def replace_where(self, condition: Value, name: str, value: Value, old: Value | None) -> None:
        """Gives a register, which has been written, another value where ``condition`` (i1) holds.

        ``old``: what lanes keep whose guard is false.
        """
        value = self.convert(value, self._registers[name])
        if self._guard is not None and old is not None:
            value = self.b.select(self._guard, value, old)
        self._current[name] = self.b.select(condition, value, self._current[name])

    def materialise(self, value: Value) -> Value:
        """Returns the value as a vector that has an SSA name."""
        if value.vector:
            return value
        text = self.b.spread(value)
        if text[0] != "%":
            wide = lanes_type(value.type)
            text = self.b.emit(f"select i1 true, {wide} {text}, {wide} {text}")
        return Value(text, value.type, True)

    # -------------------------------------------------------------------------------------------------- execution
    _guard: Value | None = None

    def begin(self, instruction: Instruction) -> None:
        """Starts an instruction: evaluates its guard and decides how its operands are read."""
        self._guard = None
        self.offset_base = False
        self.instruction = instruction
        if instruction.guard is not None:
            guard = self._raw(instruction.guard.reg)
            self._guard = self.b.negate(guard) if instruction.guard.negated else guard
        if (
            self.is_uniform
            and instruction.operands
            and isinstance(instruction.operands[0], Reg)
            and has_result(instruction)
        ):
            shape = self.shape_of(instruction.operands[0].name)
            self.offset_base = shape is not None and not shape.is_uniform
        self._scratch_used = 0

    def active(self) -> Value | None:
        """Returns the lanes that execute the instruction (a vector of i1); None when all 32 do."""
        lanes = self.block_lanes()
        if self._guard is None:
            return lanes
        guard = self.materialise(self._guard)
        return guard if lanes is None else self.b.op("and", lanes, guard)

    def active_bits(self) -> Value:
        """Returns the lanes that execute the instruction as the bits of an i32."""
        lanes = self.active()
        return self.b.integer("i32", -1) if lanes is None else self.b.ballot(lanes)

    def first(self, value: Value) -> Value:
        """Returns the first active lane's value."""
        if not value.vector:
            return value
        lanes = self.active()
        if lanes is None:
            return self.b.extract(value, 0)
        lane = self.b.intrinsic("cttz", self.b.ballot(lanes), extra=("i1 false",))
        return self.b.extract(value, self.b.op("and", lane, self.b.integer("i32", LANES - 1)))

    def restart_unless(self, condition: Value) -> bool:  # noqa: ARG002 (the uniform function can)
        """Emits: where ``condition`` (i1) does not hold, the masked function runs the block from its start.

        Returns False, and emits nothing, where the block cannot restart.
        """
        return False

    def forbid_restart(self) -> None:  # noqa: B027 (the uniform function cares)
        """Notes that the code emitted now has effects that must not happen twice: the block cannot restart after it."""

    @abstractmethod
    def trap_if(self, condition: Value, site: int) -> None:
        """Emits: end the launch where ``condition`` (i1) holds."""

    def unsupported(self, what: str = "") -> Unsupported:
        location = self.instruction.location
        return Unsupported(what or f"the instruction {self.instruction.name}", location.file, location.line)

    # ---------------------------------------------------------------------------------------------------- context
    def context(self, type_: str, offset: int, *, constant: bool = True) -> Value:
        pointer = self.b.offset("%ctx", offset)
        return Value(self.b.load(type_, pointer, SIZE[type_], note=INVARIANT if constant else ""), type_)

    def context_lanes(self, offset: int) -> Value:
        pointer = self.b.offset("%ctx", offset)
        return Value(self.b.load(lanes_type("i32"), pointer, 64, note=INVARIANT), "i32", True)

    def symbol(self, operand: Sym) -> Value:
        """Returns a variable's host address; for shared memory its offset in the window. Both are i64."""
        b, name, program = self.b, operand.name, self.program
        if name in program.layout.shared:
            return b.integer("i64", program.layout.shared[name] + operand.offset)
        if name in program.layout.local:
            base = b.op(
                "add", self.context("i64", LOCAL), b.integer("i64", program.layout.local[name] + operand.offset)
            )
            if self.is_uniform and self.offset_base:
                return base
            return self.with_offsets(base, [lane * program.layout.local_bytes for lane in range(LANES)])
        if name in program.layout.parameters:
            return b.op(
                "add",
                self.context("i64", PARAMS),
                b.integer("i64", program.layout.parameters[name][0] + operand.offset),
            )
        if name in self.unit.module.variables:
            index = self.unit.symbols.setdefault(name, len(self.unit.symbols))
            table = b.load("ptr", b.offset("%ctx", SYMBOLS), 8, note=INVARIANT)
            address = Value(b.load("i64", b.offset(table, 8 * index), 8, note=INVARIANT), "i64")
            return b.op("add", address, b.integer("i64", operand.offset)) if operand.offset else address
        if name in self.unit.module.functions:
            raise self.unsupported(f"the address of the device function {name}")
        raise self.unsupported(f"the symbol {name}")

    # -------------------------------------------------------------------------------------------- helpers, scratch
    def scratch(self) -> str:
        """Returns a pointer to SCRATCH_BYTES of stack, valid until the next instruction."""
        self._scratch_used += 1
        self.most_scratch = max(self.most_scratch, self._scratch_used)
        return f"%scratch{self._scratch_used - 1}"

    def fragment(self, count: int) -> str:
        """Returns a pointer to stack for ``count`` vectors of 32-bit registers, valid until the next instruction."""
        self.most_fragment = max(self.most_fragment, count)
        return "%fragment"

    most_scratch = 0
    most_fragment = 0

    def spill(self, *values: Value) -> str:
        """Stores the vectors one after another in a scratch slot. Returns its pointer."""
        pointer = self.scratch()
        for index, value in enumerate(values):
            wide = lanes_type(value.type)
            self.b.store(wide, self.b.spread(value), self.b.offset(pointer, index * LANES * SIZE[value.type]), 64)
        return pointer

    def fill(self, pointer: str, type_: str, index: int = 0) -> Value:
        """Returns vector number ``index`` of a scratch slot."""
        place = self.b.offset(pointer, index * LANES * SIZE[type_])
        return Value(self.b.load(lanes_type(type_), place, 64), type_, True)

    def call(self, name: str, *arguments: str, result: str = "void") -> str:
        """Emits a call of a helper of the library with typed arguments (``ptr %x``)."""
        kinds = ", ".join(a.split()[0] for a in arguments)
        self.b.declare(f"{result} @{name}({kinds})")
        text = f"call {result} @{name}({', '.join(arguments)})"
        if result == "void":
            self.b.line(text)
            return ""
        return self.b.emit(text)


def _refloat(pattern: int, bits: int, wanted: int) -> int:
    """Returns the bits of a ``0f``/``0d`` literal converted to another width."""
    if wanted not in (32, 64):
        return pattern
    value = struct.unpack("<f" if bits == 32 else "<d", pattern.to_bytes(bits // 8, "little"))[0]
    return int.from_bytes(struct.pack("<f" if wanted == 32 else "<d", value), "little")
