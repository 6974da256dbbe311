"""The masked function: a block number per lane; the lanes at one block run it together.

The lowest block goes first, which brings lanes back together at joins; after a yield the highest goes first for a
while, so that a lane holding a lock gets on while others spin. At a ``.sync`` instruction lanes wait until all that
their masks name are there, or at another instruction of that kind (``native/exec/warp_meeting.h``). Where all 32 lanes
are at an entry of the uniform function, and registers have the shapes it assumes, it takes over.
"""

from __future__ import annotations

from emulator.jit.abi import AT_BARRIER, AT_WARP_SYNC, EXITED, HAS_MET, MASKED, Access, Space
from emulator.jit.builder import LANES, Value, lanes_type
from emulator.jit.function import BARRIER, DONE, SWITCH, FunctionEmitter
from emulator.jit.ops.barrier import arrive, check_mask
from emulator.jit.ops.meeting import take_met, wait_for_lanes
from emulator.jit.register_file import RegisterFile
from emulator.jit.segments import Segment, cut_blocks
from emulator.jit.shapes import Shape
from emulator.jit.uniform import table_lookup, uniform_entries
from emulator.jit.unit import Unit
from emulator.jit.warp_context import AHEAD, LANE_PC, MODE, PC, POLICY
from emulator.ptx.cfg import Block, is_barrier, sync_mask
from emulator.ptx.effects import defs_and_uses
from emulator.ptx.facts import Flow
from emulator.ptx.ir import Imm, Instruction, Operand, Sym

_VECTOR = lanes_type("i32")


class MaskedFunction(FunctionEmitter):
    """The function for lanes that may be in different blocks, whose registers are all vectors."""

    is_uniform = False

    def __init__(self, unit: Unit, file: RegisterFile) -> None:
        super().__init__(unit, file)
        self.places = file.masked
        self._segments = cut_blocks(unit.program.cfg, lanes_apart=unit.observe)
        self._lanes = Value("%lanes", "i1", True)
        self._pcs = Value("%pcs", "i32", True)

    # ---------------------------------------------------------------------------------------------------- registers
    def shape_of(self, name: str) -> Shape | None:  # noqa: ARG002 (every register is a vector)
        return None

    def block_lanes(self) -> Value | None:
        return self._lanes

    def load_register(self, name: str) -> Value:
        if name in self.places:
            return self.file_load(name)
        # Live nowhere but in this block, and read before it is written: anything will do.
        type_ = self._registers[name]
        return self.materialise(self.b.bits(type_, 0))

    # ------------------------------------------------------------------------------------------------- the function
    def emit(self) -> str:
        self._dispatch()
        for block, segments in zip(self.unit.program.cfg.blocks, self._segments, strict=True):
            self._block(block, segments)
        return self.finish_text("masked")

    def _dispatch(self) -> None:
        b = self.b
        b.line("br label %dispatch")
        b.label("dispatch")
        b.line(f"%lane_pc = getelementptr i8, ptr %ctx, i64 {LANE_PC}")
        b.line(f"%pcs = load {_VECTOR}, ptr %lane_pc, align 64")
        b.declare(f"i32 @llvm.vector.reduce.umin.v{LANES}i32({_VECTOR})")
        b.declare(f"i32 @llvm.vector.reduce.smax.v{LANES}i32({_VECTOR})")
        waiting = self._let_some_go_first() if self.unit.observe else "%pcs"
        b.line(f"%least = call i32 @llvm.vector.reduce.umin.v{LANES}i32({_VECTOR} {waiting})")
        b.line(f"%can_run = icmp ult i32 %least, {AT_WARP_SYNC}")
        b.line("br i1 %can_run, label %choose, label %blocked, !prof !1")
        b.label("blocked")
        # Lanes that have waited for lanes which have ended go on; else all wait at barriers, or are gone.
        b.line(f"%waits = icmp ult i32 %least, {AT_BARRIER}")
        b.line("br i1 %waits, label %stuck, label %stop")
        b.label("stuck")
        self.call("emu_warp_blocked", "ptr %ctx", result="i32")
        b.lines[-1] = b.lines[-1].replace(b.lines[-1].split()[0], "%alone", 1)
        b.line(f"switch i32 %alone, label %go [ i32 {EXITED}, label %dispatch i32 {AT_BARRIER}, label %wait ]")
        b.label("wait")
        b.line(f"ret i32 {BARRIER}")
        b.label("stop")
        b.line(f"%gone = icmp eq i32 %least, {EXITED}")
        b.line(f"%status = select i1 %gone, i32 {DONE}, i32 {BARRIER}")
        b.line("ret i32 %status")
        b.label("choose")
        b.line(f"%policy_at = getelementptr i8, ptr %ctx, i64 {POLICY}")
        b.line("%policy = load i32, ptr %policy_at, align 4")
        b.line("%lowest = icmp eq i32 %policy, 0")
        b.line("br i1 %lowest, label %go, label %highest, !prof !1")
        b.label("highest")
        b.line(f"%running = icmp ult {_VECTOR} {waiting}, splat (i32 {AT_WARP_SYNC})")
        b.line(f"%candidates = select <{LANES} x i1> %running, {_VECTOR} {waiting}, {_VECTOR} splat (i32 -1)")
        b.line(f"%most = call i32 @llvm.vector.reduce.smax.v{LANES}i32({_VECTOR} %candidates)")
        b.line("br label %go")
        b.label("go")
        b.line("%block = phi i32 [ %least, %choose ], [ %most, %highest ], [ %alone, %stuck ]")
        b.line("%forced = phi i1 [ false, %choose ], [ false, %highest ], [ true, %stuck ]")
        wanted = b.spread(Value("%block", "i32"))
        b.line(f"%awake = and {_VECTOR} {waiting}, splat (i32 {~AT_WARP_SYNC})")
        b.line(f"%lanes = icmp eq {_VECTOR} %awake, {wanted}")
        b.line(f"%bits = bitcast <{LANES} x i1> %lanes to i32")
        b.line("%full = icmp eq i32 %bits, -1")
        b.line("br i1 %full, label %together, label %apart")
        b.label("together")
        b.line(f"%mode_at = getelementptr i8, ptr %ctx, i64 {MODE}")
        b.line("%mode = load i32, ptr %mode_at, align 4")
        b.line(f"store i32 {MASKED}, ptr %mode_at, align 4")
        b.line(f"%may_return = icmp eq i32 %mode, {MASKED}")
        if self.unit.observe:
            b.line("%has_pace = icmp eq i32 %ahead, 0")
            b.line("%returns = and i1 %may_return, %has_pace")
        returns = "%returns" if self.unit.observe else "%may_return"
        b.line(f"br i1 {returns}, label %returning, label %apart")
        b.label("returning")
        entries = uniform_entries(self.unit.program)
        blocks = self.unit.program.cfg.blocks
        b.line("switch i32 %block, label %apart [ " + " ".join(f"i32 {n}, label %C{n}" for n in entries) + " ]")
        for n in entries:
            self._return_to_uniform(blocks[n])
        b.label("apart")
        parts = [segment for segments in self._segments for segment in segments]
        goals = [(part.number, f"B{part.number}") for part in parts]
        goals += [(part.number | HAS_MET, f"R{part.number}") for part in parts if part.meets]
        b.line("switch i32 %block, label %lost [ " + " ".join(f"i32 {n}, label %{goal}" for n, goal in goals) + " ]")
        b.label("lost")
        b.line("unreachable")

    def _let_some_go_first(self) -> str:
        """Emits: the blocks of the lanes that are ahead, while some of these can run; else those of all."""
        b = self.b
        b.line(f"%ahead_at = getelementptr i8, ptr %ctx, i64 {AHEAD}")
        b.line("%ahead = load i32, ptr %ahead_at, align 4")
        b.line(f"%first = bitcast i32 %ahead to <{LANES} x i1>")
        b.line(f"%pcs_first = select <{LANES} x i1> %first, {_VECTOR} %pcs, {_VECTOR} splat (i32 {EXITED})")
        b.line(f"%least_first = call i32 @llvm.vector.reduce.umin.v{LANES}i32({_VECTOR} %pcs_first)")
        b.line(f"%go_first = icmp ult i32 %least_first, {AT_WARP_SYNC}")
        b.line(f"%pcs_waiting = select i1 %go_first, {_VECTOR} %pcs_first, {_VECTOR} %pcs")
        return "%pcs_waiting"

    def _return_to_uniform(self, block: Block) -> None:
        """Emits the switch to the uniform function, if every live register has the shape that it assumes."""
        b = self.b
        b.label(f"C{block.index}")
        table, count = self.unit.shape_table(self.file, block.live_in)
        if count:
            held = self.call("emu_shapes_hold", "ptr %registers", f"ptr {table}", f"i32 {count}", result="i32")
            b.line(f"br i1 {b.emit(f'icmp ne i32 {held}, 0')}, label %T{block.index}, label %apart")
        else:
            b.line(f"br label %T{block.index}")
        b.label(f"T{block.index}")
        b.store("i32", str(block.index), b.offset("%ctx", PC), 4)
        b.store("i32", "0", b.offset("%ctx", MODE), 4)
        self.leave(SWITCH)

    # ------------------------------------------------------------------------------------------------------- blocks
    def _block(self, block: Block, segments: tuple[Segment, ...]) -> None:
        cfg = self.unit.program.cfg
        for segment, next_ in zip(segments, (*segments[1:], None), strict=True):
            self.begin_part(segment.number)
            self._lanes, self._pcs = Value("%lanes", "i1", True), Value("%pcs", "i32", True)
            self.has_met = None
            self.instruction = segment.instructions[0]
            is_first = segment is segments[0]
            if is_first and block.index in cfg.loop_heads:
                self.burn_fuel(self._change_policy)
            mask = sync_mask(segment.instructions[0])
            if segment.meets and mask is not None:
                self._meet(segment, mask)
            elif is_first and mask is not None:
                self._gather(block, mask)
            if is_first:
                self.count(block)
            last = segment.instructions[-1]
            ends = last.facts.ends_block
            for instruction in segment.instructions[:-1] if ends else segment.instructions:
                self.do(instruction)
            following = self.b.integer("i32", block.index + 1 if block.index + 1 < len(cfg.blocks) else EXITED)
            if next_ is not None:
                self._store(next_.live_in)
                if self._lanes.text == "%lanes" and next_.meets:
                    self.b.line(f"br label %B{next_.number}")
                else:
                    self._go_on(self.b.integer("i32", next_.number))
                continue
            where = self._end(last, following) if ends else following
            if where is not None:
                self._store(frozenset[str]().union(*(cfg.blocks[s].live_in for s in block.successors)))
                self._go_on(where)

    def _store(self, live: frozenset[str]) -> None:
        """Emits the stores of the written registers that are live from here on."""
        for name in sorted(self._dirty & live):
            old = self.file_load(name)
            self.file_store(name, self.b.select(self._lanes, self._current[name], old))

    def do(self, instruction: Instruction) -> None:
        if self.has_met is None or sync_mask(instruction) is None:
            super().do(instruction)
            return
        has_met = self.has_met
        self.begin(instruction)
        old = {name: self._raw(name) for name in defs_and_uses(instruction)[0]} if instruction.guard else {}
        super().do(instruction)
        take_met(self, instruction, has_met, old)
        self.has_met = None

    def spoil_absent(self, instruction: Instruction, source: Value, value: Value, exempt: Value | None = None) -> Value:
        return super().spoil_absent(instruction, source, value, exempt or self.has_met)

    def _go_on(self, where: Value) -> None:
        b = self.b
        pcs = b.select(self._lanes, where, self._pcs)
        b.store(_VECTOR, pcs.text, "%lane_pc", 64)
        b.line("br label %dispatch")

    def _change_policy(self) -> None:
        b = self.b
        policy = b.load("i32", b.offset("%ctx", POLICY), 4)
        b.store("i32", b.emit(f"xor i32 {policy}, 1"), b.offset("%ctx", POLICY), 4)
        if self.unit.observe:
            # Those that are ahead may wait for the others.
            ahead = Value(b.load("i32", b.offset("%ctx", AHEAD), 4), "i32")
            others = b.op("xor", ahead, b.integer("i32", -1))
            nobody = b.compare("icmp eq", ahead, b.integer("i32", 0))
            b.store("i32", b.select(nobody, ahead, others).text, b.offset("%ctx", AHEAD), 4)

    def _meet(self, segment: Segment, mask: Operand) -> None:
        """Emits: where lanes are missing that a mask names, all lanes wait, and go on with results made for them."""
        b, instruction, number = self.b, segment.instructions[0], segment.number
        self.begin(instruction)
        here = self.active_bits()
        zero = b.integer("i32", 0)
        wanted = b.integer("i32", mask.value) if isinstance(mask, Imm) else self.read(mask, "i32")
        alive = b.ballot(b.compare("icmp ne", self._pcs, b.integer("i32", EXITED)))
        absent = b.op("and", alive, b.op("xor", here, b.integer("i32", -1)))
        lanes = self.active()
        assert lanes is not None
        missing = b.op("and", lanes, b.compare("icmp ne", b.op("and", wanted, absent), zero))
        waits = b.compare("icmp ne", b.ballot(missing), zero)
        b.line(f"br i1 {waits.text}, label %W{number}, label %N{number}")
        b.label(f"W{number}")
        wait_for_lanes(self, instruction, number, here)
        b.line("br label %dispatch")
        b.label(f"N{number}")
        self._current = {}
        self.begin(instruction)
        check_mask(self, instruction, mask, self.active_bits(), b.integer("i1", 0))
        end = b.current_label
        b.line(f"br label %G{number}")
        b.label(f"R{number}")
        b.line(f"br label %G{number}")
        b.label(f"G{number}")
        self._current = {}
        self.has_met = Value(b.emit(f"phi i1 [ true, %R{number} ], [ false, %{end} ]"), "i1")

    def _gather(self, block: Block, mask: Operand) -> None:
        """Emits: each lane waits for the live lanes of its own ``mask`` to come to this block."""
        b = self.b
        here = Value("%bits", "i32")
        forced = Value("%forced", "i1")
        zero = b.integer("i32", 0)
        wanted = b.integer("i32", mask.value) if isinstance(mask, Imm) else self.read(mask, "i32")
        alive = b.ballot(b.compare("icmp ne", self._pcs, b.integer("i32", EXITED)))
        absent = b.op("and", alive, b.op("xor", here, b.integer("i32", -1)))
        missing = b.op("and", self._lanes, b.compare("icmp ne", b.op("and", wanted, absent), zero))
        left = b.op("and", b.compare("icmp ne", b.ballot(missing), zero), forced)
        waiting = b.op("and", missing, b.negate(forced))
        pcs = b.select(waiting, b.integer("i32", block.index | AT_WARP_SYNC), self._pcs)
        self._lanes, self._pcs = b.op("and", self._lanes, b.negate(waiting)), pcs
        label = b.fresh("w")
        nobody = b.compare("icmp eq", b.ballot(self._lanes), zero)
        b.line(f"br i1 {nobody.text}, label %{label}y, label %{label}n")
        b.label(f"{label}y")
        b.store(_VECTOR, pcs.text, "%lane_pc", 64)
        b.line("br label %dispatch")
        b.label(f"{label}n")
        check_mask(self, block.instructions[0], mask, b.ballot(self._lanes), left)

    def _end(self, last: Instruction, following: Value) -> Value | None:
        """Returns the block that each lane goes to; None when the launch ends."""
        b = self.b
        self.begin(last)
        if is_barrier(last):
            waits = arrive(self, last)
            if not waits:
                return following
            return self._guarded(b.op("or", following, b.integer("i32", AT_BARRIER)), following)
        if last.facts.flow in (Flow.TRAP, Flow.BREAKPOINT):
            site = self.unit.site(last, Access.NONE, Space.GENERIC, 1)
            if last.guard is None:
                self.trap(site)
                return None
            self.trap_if(b.compare("icmp ne", self.active_bits(), b.integer("i32", 0)), site)
            return following
        if last.facts.flow is Flow.TABLE:
            goals = self.unit.program.table_goals(last)
            return table_lookup(self, goals, self.read(last.operands[0], "i32"), int(following.text))
        if last.facts.flow is Flow.JUMP:
            operand = last.operands[0]
            assert isinstance(operand, Sym)
            return self._guarded(b.integer("i32", self.unit.program.cfg.labels[operand.name]), following)
        return self._guarded(b.integer("i32", EXITED), following)

    def _guarded(self, taken: Value, following: Value) -> Value:
        return taken if self._guard is None else self.b.select(self._guard, taken, following)
