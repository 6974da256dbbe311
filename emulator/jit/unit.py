"""The state that the two functions of a kernel share: access sites, constant tables and symbols."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from emulator.jit.abi import NO_BLOCK, Access, AtomicForm, Order, Space
from emulator.jit.accumulators import early_uses
from emulator.jit.artifact import AccessSite
from emulator.jit.builder import LANES, SIZE
from emulator.jit.guesses import guesses_of
from emulator.jit.idempotent import constant_stores
from emulator.jit.register_file import RegisterFile
from emulator.jit.shapes import Shapes
from emulator.ptx.effects import defs_and_uses, registers_of
from emulator.ptx.facts import Memory
from emulator.ptx.ir import Address, Imm, Instruction, Module, Reg, Vec
from emulator.ptx.opcodes import OF_SYSTEM, STRONG
from emulator.ptx.program import Program
from emulator.ptx.provenance import accessed_variable, shared_variables
from records import dataclass


def order_of(instruction: Instruction, kind: Access) -> Order:
    """Returns the order that the access has for other threads."""
    modifiers = instruction.modifiers
    order = Order(0)
    if kind is Access.ATOMIC or not STRONG.isdisjoint(modifiers):
        order |= Order.STRONG
        if not OF_SYSTEM.isdisjoint(modifiers):
            order |= Order.SYSTEM
        if "cta" in modifiers:
            order |= Order.BLOCK
    if "release" in modifiers or "acq_rel" in modifiers:
        order |= Order.RELEASE
    if kind is Access.LOAD and "sync" in modifiers:
        # The warp's lanes come together to load a matrix: each has done what it does before.
        order |= Order.RELEASE
    if kind is Access.ATOMIC and "exch" in modifiers:
        order |= Order.BLIND
    if kind is Access.STORE and (instruction.opcode == "cp" or "async" in modifiers):
        order |= Order.LATER
    if kind is Access.LOAD and "nc" in modifiers:
        order |= Order.READ_ONLY
    return order


# What shared memory's own atomic unit can do (machine code for sm_80 and sm_90); all else is a loop.
_SHARED_32 = frozenset(("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"))
_SHARED_64 = frozenset(("exch", "cas"))


def form_of(instruction: Instruction, used: frozenset[str]) -> AtomicForm:
    """Returns the form in which ptxas compiles an atomic. ``used``: the registers that some instruction reads."""
    form = AtomicForm(0)
    facts = instruction.facts
    if facts.memory is not Memory.ATOMIC:  # an mbarrier's
        return form
    is_reduction = not facts.writes
    awaited = not is_reduction and not used.isdisjoint(registers_of(instruction.operands[0]))
    if awaited:
        form |= AtomicForm.AWAITED
    scalar = instruction.type
    if scalar.is_float:
        form |= AtomicForm.FLOAT
    native = _SHARED_64 if scalar.bits == 64 else _SHARED_32 if scalar.bits == 32 else frozenset()
    if native.isdisjoint(instruction.modifiers) or (scalar.is_float and "exch" not in instruction.modifiers):
        form |= AtomicForm.SWAP_LOOP
    value = instruction.operands[1 if is_reduction else 2]
    if "add" in instruction.modifiers and not awaited and isinstance(value, Imm) and value.value == 1:
        form |= AtomicForm.COUNT if not scalar.is_float and scalar.bits == 32 else AtomicForm(0)
    # Late sums are of one number.
    is_number = scalar.bits in (32, 64) and scalar.lanes == 1 and not isinstance(value, Vec)
    if "add" in instruction.modifiers and is_number:
        form |= AtomicForm.ADDS
    return form


def _computed_with(instruction: Instruction) -> set[str]:
    """Returns the registers that an instruction reads, but for those that it only stores."""
    used = set(defs_and_uses(instruction)[1])
    if instruction.opcode == "st":
        address, value = instruction.operands[:2]
        stored = {item.name for item in (value.items if isinstance(value, Vec) else (value,)) if isinstance(item, Reg)}
        if isinstance(address, Address) and isinstance(address.base, Reg):
            stored.discard(address.base.name)
        used -= stored
    return used


_TABLE_ROW = "{i32, i32, i32, ptr}"


@dataclass(slots=True)
class Unit:
    """The state that the two functions of a kernel share."""

    module: Module
    program: Program
    shapes: Shapes
    block: tuple[int, int, int]
    check_memory: bool
    wide_vectors: bool  # AVX-512: gathers and scatters are instructions
    observe: bool = False  # see compiler.Options
    follow: bool = False
    declarations: set[str] = field(default_factory=set)
    symbols: dict[str, int] = field(default_factory=dict)
    uses_barriers: bool = False
    uses_grid_barrier: bool = False

    @property
    def early_uses(self) -> dict[int, Instruction]:
        """See ``accumulators``."""
        if self._early_uses is None:
            self._early_uses = early_uses(self.program.cfg)
        return self._early_uses

    def site(self, instruction: Instruction, kind: Access, space: Space, size: int, elements: int = 1) -> int:
        """Returns the number of an access site, of ``size`` bytes in ``elements`` equal parts.

        Each instruction has its own, which both functions share, with a cache of the allocation that it hit last.
        """
        if space is Space.CLUSTER:
            space = Space.GENERIC
        key = (id(instruction), kind, space, size)
        index = self._site_of.get(key)
        if index is None:
            index = len(self.site_list)
            self._site_of[key] = index
            block, form = NO_BLOCK, AtomicForm(0)
            if self.observe:
                block = self._blocks().get(id(instruction), NO_BLOCK)
                form = form_of(instruction, self._used_registers()) if kind is Access.ATOMIC else form
            order = order_of(instruction, kind)
            if self.observe and id(instruction) in self._guesses():
                order |= Order.GUESS
            if self.observe and kind is Access.STORE and id(instruction) in self._constant_stores():
                order |= Order.CONSTANT
            shared = self._shared_bounds(instruction, size) if space is Space.SHARED else (0, 0)
            copied = self._copied_elements(instruction) if self.observe and elements > 1 else 0
            place = instruction.location
            self.site_list.append(
                AccessSite(
                    place.file, place.line, size, order, kind, space, block, form, *shared, size // elements, copied
                )
            )
        return index

    def _shared_bounds(self, instruction: Instruction, size: int) -> tuple[int, int]:
        layout = self.program.layout.shared
        if self._origins is None:
            instructions = (i for block in self.program.cfg.blocks for i in block.instructions)
            self._origins = shared_variables(instructions, layout)
        name = accessed_variable(instruction, self._origins, layout)
        if name is None or layout[name] % size:  # the quick check presumes that the beginning is aligned
            return 0, 0
        variable = self.program.entry.variables.get(name) or self.module.variables.get(name)
        return layout[name], layout[name] + variable.size if variable and variable.size else 0

    def _guesses(self) -> frozenset[int]:
        if self._guessing is None:
            self._guessing = guesses_of(i for block in self.program.cfg.blocks for i in block.instructions)
        return self._guessing

    def _constant_stores(self) -> frozenset[int]:
        if self._constants is None:
            self._constants = constant_stores(i for block in self.program.cfg.blocks for i in block.instructions)
        return self._constants

    def _blocks(self) -> dict[int, int]:
        if not self._block_of:
            self._block_of = {id(i): block.index for block in self.program.cfg.blocks for i in block.instructions}
        return self._block_of

    def _copied_elements(self, instruction: Instruction) -> int:
        target = instruction.operands[0]
        if instruction.opcode != "ld" or not isinstance(target, Vec):
            return 0
        if self._computed is None:
            instructions = (i for block in self.program.cfg.blocks for i in block.instructions)
            self._computed = frozenset(name for i in instructions for name in _computed_with(i))
        names = [item.name if isinstance(item, Reg) else "" for item in target.items]
        return sum(1 << number for number, name in enumerate(names) if name not in self._computed)

    def _used_registers(self) -> frozenset[str]:
        if self._used is None:
            instructions = (i for block in self.program.cfg.blocks for i in block.instructions)
            self._used = frozenset(name for i in instructions for name in defs_and_uses(i)[1])
        return self._used

    def pattern(self, offsets: tuple[int, ...]) -> str:
        """Returns the name of a constant table of byte offsets, one per lane."""
        name = self._patterns.get(offsets)
        if name is None:
            name = self._patterns[offsets] = f"@pattern{len(self._patterns)}"
        return name

    def shape_table(self, file: RegisterFile, live: Iterable[str]) -> tuple[str, int]:
        """(a constant table of the live registers that the uniform function keeps as scalars, its length).

        An entry is EmuShape of semantics.h: places of the lanes and of the scalar in the register file, bytes of an
        element (0: a predicate), offsets or null.
        """
        rows = []
        for name in sorted(live):
            shape = self.shapes.of(name)
            if shape is not None:
                type_ = self.program.registers[name].register
                size = 0 if type_ == "i1" else SIZE[type_]
                pattern = "null" if shape.is_uniform else self.pattern(shape.offsets)
                offsets = f"i32 {file.lanes[name]}, i32 {file.scalars.get(name, 0)}"
                rows.append(f"{_TABLE_ROW} {{{offsets}, i32 {size}, ptr {pattern}}}")
        text = ", ".join(rows)
        table = self._tables.get(text)
        if table is None:
            table = self._tables[text] = f"@shapes{len(self._tables)}"
        return table, len(rows)

    def constants(self) -> list[str]:
        """Returns the definitions of all tables whose names were returned."""
        patterns = [
            f"{name} = private unnamed_addr constant [{LANES} x i64] [" + ", ".join(f"i64 {o}" for o in offsets) + "]"
            for offsets, name in self._patterns.items()
        ]
        tables = [
            f"{name} = private unnamed_addr constant [{text.count(_TABLE_ROW)} x {_TABLE_ROW}] [{text}]"
            for text, name in self._tables.items()
        ]
        return patterns + tables

    _early_uses: dict[int, Instruction] | None = None
    _block_of: dict[int, int] = field(default_factory=dict)
    _used: frozenset[str] | None = None
    _computed: frozenset[str] | None = None
    _guessing: frozenset[int] | None = None
    _constants: frozenset[int] | None = None
    _origins: dict[str, str] | None = None
    _tables: dict[str, str] = field(default_factory=dict)
    _patterns: dict[tuple[int, ...], str] = field(default_factory=dict)
    _site_of: dict[tuple[int, Access, Space, int], int] = field(default_factory=dict)
    site_list: list[AccessSite] = field(default_factory=list)
