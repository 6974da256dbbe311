"""Emits the uniform function: all 32 lanes together, registers in SSA, values that all lanes share as scalars.

It leaves where lanes part (spilling what is live, each lane with its own block number) and goes on in the masked
function; it can be entered at ``entries``: the start, loop heads, joins, and behind barriers.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from emulator.jit.abi import EXITED, MASKED, MASKED_ONCE, Access, Space
from emulator.jit.access_groups import access_groups_of
from emulator.jit.builder import SIZE, Value, lanes_type
from emulator.jit.function import BARRIER, BARRIER_QUIET, DONE, SWITCH, FunctionEmitter
from emulator.jit.ops.barrier import arrive, check_mask, touches_memory_first
from emulator.jit.ops.meeting import destinations
from emulator.jit.predication import predicated_block
from emulator.jit.register_file import RegisterFile
from emulator.jit.shapes import Shape, source_type
from emulator.jit.unit import Unit
from emulator.jit.warp_context import LANE_PC, MODE, PC
from emulator.ptx.cfg import Block, is_barrier, sync_mask
from emulator.ptx.effects import defs_and_uses
from emulator.ptx.facts import Flow
from emulator.ptx.ir import Instruction, Reg, Sym
from emulator.ptx.program import Program


def uniform_entries(program: Program) -> tuple[int, ...]:
    """Returns the blocks at which the uniform function may be entered."""
    cfg = program.cfg
    entries = {0} | cfg.loop_heads | cfg.joins
    entries.update(block.index + 1 for block in cfg.blocks if is_barrier(block.instructions[-1]))
    return tuple(sorted(e for e in entries if e < len(cfg.blocks)))


_MOST_SSA_VECTORS = 24
_MOST_LOOP_BLOCKS = 40


class UniformFunction(FunctionEmitter):
    """The function for warps whose 32 lanes run together."""

    is_uniform = True

    def __init__(self, unit: Unit, file: RegisterFile) -> None:
        super().__init__(unit, file)
        self.entries = uniform_entries(unit.program)
        self._slots: dict[str, str] = {}
        self._in_ssa = self._choose_homes()
        self._predicate: Value | None = None  # the lanes that do a block which the others skip
        self._restart_forbidden = False  # the block has done what must not be done twice
        self._has_restart = False  # somewhere in the block

    def _choose_homes(self) -> frozenset[str]:
        """Returns the registers that are SSA values across blocks.

        They are those of loops without barriers, while their vectors fit the CPU's registers. The others are in the
        register file between blocks, which makes every way out of the function short.
        """
        blocks = self.unit.program.cfg.blocks
        chosen: set[str] = set()
        for block in blocks:
            for head in block.successors:
                if head > block.index:
                    continue
                loop = blocks[head : block.index + 1]
                if len(loop) <= _MOST_LOOP_BLOCKS and not any(is_barrier(b.instructions[-1]) for b in loop):
                    for inner in loop:
                        for instruction in inner.instructions:
                            for names in defs_and_uses(instruction):
                                chosen.update(names)
        chosen &= self.file.lanes.keys()
        vectors = {name for name in chosen if self.unit.shapes.of(name) is None}
        return frozenset(chosen - vectors if len(vectors) > _MOST_SSA_VECTORS else chosen)

    # ---------------------------------------------------------------------------------------------------- registers
    def shape_of(self, name: str) -> Shape | None:
        return self.unit.shapes.of(name)

    def block_lanes(self) -> Value | None:
        return self._predicate

    def _in_file(self, name: str) -> bool:
        """Returns whether the register lives in the register file between blocks, not in SSA."""
        return name in self.file.lanes and name not in self._in_ssa

    def _slot(self, name: str) -> tuple[str, str]:
        """Returns (the register's stack slot, its type). LLVM promotes the slot to SSA."""
        slot = self._slots.get(name)
        if slot is None:
            slot = self._slots[name] = f"%R{len(self._slots)}"
        type_ = self._registers[name]
        return slot, lanes_type(type_) if self.shape_of(name) is None else type_

    def load_register(self, name: str) -> Value:
        if self._in_file(name):
            return self._unpark(name)
        if name not in self.file.lanes:
            # Written in this block alone, and read before that: anything will do.
            undefined = self.b.bits(self._registers[name], 0)
            return self.materialise(undefined) if self.shape_of(name) is None else undefined
        slot, type_ = self._slot(name)
        return Value(self.b.emit(f"load {type_}, ptr {slot}"), self._registers[name], self.shape_of(name) is None)

    def _store_slot(self, name: str, value: Value) -> None:
        slot, type_ = self._slot(name)
        text = self.b.spread(value) if self.shape_of(name) is None else value.text
        self.b.line(f"store {type_} {text}, ptr {slot}")

    def _write_back(self, live: Iterable[str]) -> None:
        """Ends a block: stores the written registers where they live between blocks."""
        for name in sorted(self._dirty.intersection(live)):
            if self._in_file(name):
                self._park_one(name, self._current[name])
            else:
                self._store_slot(name, self._current[name])

    def _park_one(self, name: str, value: Value) -> None:
        """Stores a register in the register file; only lane 0's value of one that has a shape."""
        b = self.b
        shape = self.shape_of(name)
        if shape is None or value.type == "i1":
            self.file_store(name, value)
            return
        if shape.offsets[0]:
            value = b.op("add", value, b.integer(value.type, shape.offsets[0]))
        b.store(value.type, value.text, b.offset("%registers", self.file.scalars[name]), SIZE[value.type])

    def _unpark(self, name: str) -> Value:
        b = self.b
        shape = self.shape_of(name)
        if shape is None:
            return self.file_load(name)
        type_ = self._registers[name]
        if type_ == "i1":
            return b.resize(Value(b.load("i32", b.offset("%registers", self.file.lanes[name]), 4), "i32"), "i1")
        value = Value(b.load(type_, b.offset("%registers", self.file.scalars[name]), SIZE[type_]), type_)
        return b.op("sub", value, b.integer(type_, shape.offsets[0])) if shape.offsets[0] else value

    def _park(self, live: Iterable[str]) -> None:
        """Stores the live registers that are not in the register file there, before the function is left."""
        for name in sorted(live):
            if not self._in_file(name):
                self._park_one(name, self._raw(name))

    def _spread(self, live: Iterable[str]) -> None:
        """Turns the scalars in the register file into vectors, before the masked function takes over."""
        table, count = self.unit.shape_table(self.file, live)
        if count:
            self.call("emu_spread", "ptr %registers", f"ptr {table}", f"i32 {count}")

    # ------------------------------------------------------------------------------------------------- the function
    def emit(self) -> str:
        program = self.unit.program
        body = self.b
        blocks = program.cfg.blocks
        pc = body.load("i32", body.offset("%ctx", PC), 4)
        targets = " ".join(f"i32 {index}, label %E{index}" for index in self.entries)
        body.line(f"switch i32 {pc}, label %lost [ {targets} ]")
        body.label("lost")
        body.line("unreachable")
        for index in self.entries:
            self._enter(blocks[index])
        for block in blocks:
            self._block(block)
        body.label("exit")
        self.leave(DONE)
        slots = [f"  {slot} = alloca {self._slot(name)[1]}, align 64" for name, slot in self._slots.items()]
        self.b.lines[0:0] = slots
        return self.finish_text("uniform")

    def _enter(self, block: Block) -> None:
        b = self.b
        b.label(f"E{block.index}")
        for name in sorted(block.live_in):
            if not self._in_file(name):
                self._store_slot(name, self._unpark(name))
        b.line(f"br label %B{block.index}")

    def _live(self, index: int) -> frozenset[str]:
        blocks = self.unit.program.cfg.blocks
        return blocks[index].live_in if index < len(blocks) else frozenset()

    def _block(self, block: Block) -> None:
        self.begin_block(block)
        self._here = block
        self.access_groups = access_groups_of(block)
        self._restart_forbidden = self._has_restart = False
        if block.index in self.unit.program.cfg.loop_heads:
            self.burn_fuel(partial(self._suspend, block))
            self._current = {}
        self.count(block)
        last = block.instructions[-1]
        for instruction in block.instructions[:-1]:
            self.do(instruction)
        self._end_block(block, last)
        if self._has_restart:
            self._emit_restart(block)

    def _end_block(self, block: Block, last: Instruction) -> None:
        live_out = frozenset[str]().union(*(self._live(s) for s in block.successors))
        if is_barrier(last):
            self._barrier(block, last)
        elif last.facts.ends_block:
            self._leave_block(block, last, live_out)
        else:
            self.do(last)
            self._write_back(live_out)
            self.b.line(f"br label {self._target(block.index + 1)}")

    def do(self, instruction: Instruction) -> None:
        if id(instruction) in self.unit.shapes.widened:
            self._check_widening(instruction)
        mask = sync_mask(instruction)
        if mask is not None:
            self.begin(instruction)
            check_mask(self, instruction, mask, self.active_bits(), self.b.integer("i1", 0))
        super().do(instruction)
        if instruction.facts.has_effect or instruction.facts.reports_faults:
            self.forbid_restart()

    def spoil_absent(self, instruction: Instruction, source: Value, value: Value, exempt: Value | None = None) -> Value:
        """All lanes execute it: only those that a mask leaves out take no part."""
        mask, target = self.constant(instruction.operands[-1]), destinations(instruction)[0]
        if mask is not None and mask & 0xFFFFFFFF == 0xFFFFFFFF:
            return value
        if not isinstance(target, Reg) or self.shape_of(target.name) is not None:
            return value  # all lanes read one, and get the same
        return super().spoil_absent(instruction, source, value, exempt)

    def forbid_restart(self) -> None:
        self._restart_forbidden = True

    def _check_widening(self, instruction: Instruction) -> None:
        """Emits: where base + offset wraps in 32 bits for some lane, the masked function restarts the block."""
        b = self.b
        signed = source_type(instruction).is_signed
        for operand in instruction.operands[1:3]:
            shape = self.shape_of(operand.name) if isinstance(operand, Reg) else None
            if not isinstance(operand, Reg) or shape is None or shape.is_uniform or shape.disjoint(32, signed=signed):
                continue
            base = self._raw(operand.name)
            if base.type != "i32":
                continue
            least, most = min(shape.offsets), max(shape.offsets)
            top, bottom = ((1 << 31) - 1, -(1 << 31)) if signed else ((1 << 32) - 1, 0)
            prefix = "s" if signed else "u"
            bad = b.compare(f"icmp {prefix}gt", base, b.integer("i32", top - max(most, 0)))
            if least < 0:
                low = b.compare(f"icmp {prefix}lt", base, b.integer("i32", bottom - least))
                bad = b.op("or", bad, low)
            self._branch_to_restart(b.negate(bad))

    def restart_unless(self, condition: Value) -> bool:
        if self._restart_forbidden or self._predicate is not None or self.unit.observe:
            return False
        self._branch_to_restart(condition)
        return True

    def _branch_to_restart(self, unless: Value) -> None:
        self._has_restart = True
        label = self.b.fresh("x")
        self.b.line(f"br i1 {unless.text}, label %{label}, label %A{self._here.index}, !prof !1")
        self.b.label(label)

    def _emit_restart(self, block: Block) -> None:
        """Emits the restart of the block in the masked function: no register has been stored since the block began."""
        self.b.label(f"A{block.index}")
        self.count(block, times=-1)
        self._current = {}
        self._park(block.live_in)
        self._spread(block.live_in)
        self._diverge(self.b.integer("i32", block.index), mode=MASKED_ONCE)

    def _suspend(self, block: Block) -> None:
        self._park(block.live_in)
        self.b.store("i32", str(block.index), self.b.offset("%ctx", PC), 4)

    def _target(self, index: int) -> str:
        return f"%B{index}" if index < len(self.unit.program.cfg.blocks) else "%exit"

    # ----------------------------------------------------------------------------------------------- ends of blocks
    def _goal(self, instruction: Instruction) -> int | None:
        """Returns the block that a bra goes to; None where the function ends."""
        if instruction.facts.flow is not Flow.JUMP:
            return None
        operand = instruction.operands[0]
        assert isinstance(operand, Sym)
        return self.unit.program.cfg.labels[operand.name]

    def _leave_block(self, block: Block, last: Instruction, live_out: frozenset[str]) -> None:
        b = self.b
        self.begin(last)
        if last.facts.flow in (Flow.TRAP, Flow.BREAKPOINT):
            site = self.unit.site(last, Access.NONE, Space.GENERIC, 1)
            if last.guard is None:
                self.trap(site)
                return
            self.trap_if(b.compare("icmp ne", self.active_bits(), b.integer("i32", 0)), site)
            self._write_back(live_out)
            b.line(f"br label {self._target(block.index + 1)}")
            return
        if last.facts.flow is Flow.TABLE:
            self._branch_table(block, last, live_out)
            return
        goal = self._goal(last)
        taken = "%exit" if goal is None else self._target(goal)
        if self._guard is None:
            self._write_back(live_out)
            b.line(f"br label {taken}")
            return
        guard = self._guard
        following = self._target(block.index + 1)
        self._write_back(live_out)
        if not guard.vector:
            b.line(f"br i1 {guard.text}, label {taken}, label {following}")
            return
        bits = b.ballot(guard)
        label = b.fresh("d")
        every = b.compare("icmp eq", bits, b.integer("i32", -1))
        b.line(f"br i1 {every.text}, label {taken}, label %{label}a")
        b.label(f"{label}a")
        none = b.compare("icmp eq", bits, b.integer("i32", 0))
        b.line(f"br i1 {none.text}, label {following}, label %{label}b")
        b.label(f"{label}b")
        side = predicated_block(self.unit.program.cfg, self.unit.shapes, block, goal)
        if side is not None:
            self._do_predicated(side, b.negate(guard))
            b.line(f"br label {taken}")
            return
        self._park(live_out)
        self._spread(live_out)
        where = b.select(guard, b.integer("i32", EXITED if goal is None else goal), b.integer("i32", block.index + 1))
        self._diverge(where)

    def _do_predicated(self, side: Block, lanes: Value) -> None:
        """Emits a block that only ``lanes`` execute."""
        self._current, self._dirty, self._guard, self._predicate = {}, set(), None, lanes
        self.access_groups = {}
        self.count(side)
        for instruction in side.instructions:
            if instruction.facts.flow is Flow.NEXT:
                self.do(instruction)
        live_out = self._live(side.successors[0])
        self._predicate = None
        for name in sorted(self._dirty & live_out):
            self._current[name] = self.b.select(lanes, self._current[name], self.load_register(name))
        self._write_back(live_out)

    def _diverge(self, where: Value, mode: int = MASKED) -> None:
        """Emits the switch to the masked function, where each lane continues at its block."""
        b = self.b
        b.store(lanes_type("i32"), b.spread(where), b.offset("%ctx", LANE_PC), 64)
        b.store("i32", str(mode), b.offset("%ctx", MODE), 4)
        self.leave(SWITCH)

    def _branch_table(self, block: Block, last: Instruction, live_out: frozenset[str]) -> None:
        b = self.b
        goals = self.unit.program.table_goals(last)
        index = self.read(last.operands[0], "i32")
        self._write_back(live_out)
        if index.vector or last.guard is not None:
            self._park(live_out)
            self._spread(live_out)
            self._diverge(table_lookup(self, goals, index, block.index + 1))
            return
        cases = " ".join(f"i32 {n}, label %B{goal}" for n, goal in enumerate(goals[:-1]))
        b.line(f"switch i32 {index.text}, label %B{goals[-1]} [ {cases} ]")

    def _barrier(self, block: Block, last: Instruction) -> None:
        """Emits a barrier as a return from the function: the next run() enters behind it."""
        b = self.b
        self.begin(last)
        following = block.index + 1
        self._write_back(self._live(following))
        if not arrive(self, last):
            b.line(f"br label {self._target(following)}")
            return
        self._park(self._live(following))
        b.store("i32", str(following), b.offset("%ctx", PC), 4)
        self.leave(BARRIER if touches_memory_first(self.unit.program.cfg, following) else BARRIER_QUIET)


def table_lookup(e: FunctionEmitter, goals: tuple[int, ...], index: Value, otherwise: int) -> Value:
    """Returns each lane's block number."""
    b = e.b
    where = b.integer("i32", goals[-1])
    for n, goal in enumerate(goals[:-1]):
        where = b.select(b.compare("icmp eq", index, b.integer("i32", n)), b.integer("i32", goal), where)
    if e._guard is not None:
        where = b.select(e._guard, where, b.integer("i32", otherwise))
    return where
