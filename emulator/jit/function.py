"""The parts that the uniform and the masked function share: prologue, epilogue, the walk over a block."""

from __future__ import annotations

from collections.abc import Callable

from emulator.jit.builder import LANES, Value, lanes_type
from emulator.jit.emitter import INVARIANT, SCRATCH_BYTES, Emitter
from emulator.jit.ops import EMITTERS
from emulator.jit.ops.warpgroup import report_early_use
from emulator.jit.origins import keep_origin, origin_of_result, report_uses
from emulator.jit.register_file import RegisterFile
from emulator.jit.special_registers import read_special_register
from emulator.jit.unit import Unit
from emulator.jit.warp_context import FUEL, INSTRUCTIONS, REGISTERS, TALLY, TRAP_SITE
from emulator.ptx.cfg import Block
from emulator.ptx.effects import defs_and_uses
from emulator.ptx.errors import MALFORMED
from emulator.ptx.ir import Instruction
from emulator.ptx.modifiers import check_modifiers

# run() results, and one between the two functions: go on in the other mode.
DONE, BARRIER, YIELD, TRAP, SWITCH, BARRIER_QUIET = 0, 1, 2, 3, 4, 5


class FunctionEmitter(Emitter):
    """Adds the register file and the parts of control flow that both functions share."""

    def __init__(self, unit: Unit, file: RegisterFile) -> None:
        super().__init__(unit)
        self.file = file
        self.places = file.lanes
        self.origins = file.origins

    def special_register(self, name: str) -> Value:
        return read_special_register(self, name)

    # -------------------------------------------------------------------------------------------- the register file
    def file_load(self, name: str) -> Value:
        b, type_ = self.b, self._registers[name]
        pointer = b.offset("%registers", self.places[name])
        if type_ == "i1":
            return b.unballot(Value(b.load("i32", pointer, 4), "i32"))
        return Value(b.load(lanes_type(type_), pointer, 64), type_, True)

    def file_store(self, name: str, value: Value) -> None:
        b, type_ = self.b, self._registers[name]
        pointer = b.offset("%registers", self.places[name])
        if type_ == "i1":
            bits = b.ballot(value) if value.vector else b.resize(value, "i32", signed=True)
            b.store("i32", bits.text, pointer, 4)
        else:
            b.store(lanes_type(type_), b.spread(value), pointer, 64)

    # ------------------------------------------------------------------------------------------------------- blocks
    def begin_block(self, block: Block) -> None:
        """Emits the block's label; no register has been read or written in it yet."""
        self.begin_part(block.index)

    def begin_part(self, number: int) -> None:
        self.b.label(f"B{number}")
        self._current = {}
        self._dirty = set()
        self._guard = None

    def count(self, block: Block, times: int = 1) -> None:
        """Emits: add the block's instructions to the warp's counter, or subtract them (``times`` -1)."""
        number = sum(i.facts.is_counted for i in block.instructions)
        if number:
            b = self.b
            pointer = b.offset("%ctx", INSTRUCTIONS)
            old = b.load("i64", pointer, 8)
            b.store("i64", b.emit(f"add i64 {old}, {times * number}"), pointer, 8)
        if self.unit.observe:
            self._tally(block, times)

    def _tally(self, block: Block, times: int) -> None:
        """Emits: count one execution of the block and its lanes, or take them back."""
        b = self.b
        lanes = self.block_lanes()
        number = b.integer("i32", LANES) if lanes is None else b.intrinsic("ctpop", b.ballot(lanes))
        tally = b.load("ptr", b.offset("%ctx", TALLY), 8, note=INVARIANT)
        lanes_more = b.op("mul", b.resize(number, "i64"), b.integer("i64", times))
        for index, more in enumerate((b.integer("i64", times), lanes_more)):
            pointer = b.offset(tally, 16 * block.index + 8 * index)
            old = Value(b.load("i64", pointer, 8), "i64")
            b.store("i64", b.op("add", old, more).text, pointer, 8)

    def burn_fuel(self, before_yield: Callable[[], None]) -> None:
        """Emits: take one unit of the warp's fuel, or, where none is left, do ``before_yield`` and leave the function.

        Every loop head does so, so that a warp that spins lets others run.
        """
        b = self.b
        pointer = b.offset("%ctx", FUEL)
        fuel = b.load("i32", pointer, 4)
        label = b.fresh("y")
        empty = b.emit(f"icmp sle i32 {fuel}, 0")
        b.line(f"br i1 {empty}, label %{label}y, label %{label}n, !prof !2")
        b.label(f"{label}y")
        before_yield()
        self.leave(YIELD)
        b.label(f"{label}n")
        b.store("i32", b.emit(f"sub i32 {fuel}, 1"), pointer, 4)

    def begin(self, instruction: Instruction) -> None:
        super().begin(instruction)
        if self.origins:
            report_uses(self, self.origins, instruction)

    def do(self, instruction: Instruction) -> None:
        self.begin(instruction)
        check_modifiers(instruction)
        product = self.unit.early_uses.get(id(instruction))
        if product is not None:
            report_early_use(self, instruction, product)
        try:
            origin = origin_of_result(self, self.origins, instruction) if self.origins else None
            EMITTERS[instruction.opcode](self, instruction)
        except MALFORMED as error:  # operands that it has nowhere in PTX, or that nobody here has thought of
            raise self.unsupported(f"the instruction {instruction.name} with such operands") from error
        if origin is not None:
            keep_origin(self, self.origins, defs_and_uses(instruction)[0], origin)

    def trap_if(self, condition: Value, site: int) -> None:
        b = self.b
        label = b.fresh("t")
        b.line(f"br i1 {condition.text}, label %{label}y, label %{label}n, !prof !2")
        b.label(f"{label}y")
        self.trap(site)
        b.label(f"{label}n")

    def trap(self, site: int) -> None:
        self.b.store("i32", str(site), self.b.offset("%ctx", TRAP_SITE), 4)
        self.leave(TRAP)

    def leave(self, status: int) -> None:
        self.b.line(f"ret i32 {status}")

    def finish_text(self, name: str) -> str:
        """Returns the text of the whole function, with its prologue."""
        head = [f"define internal i32 @{name}(ptr noalias %ctx) #0 {{", "entry:"]
        head += [f"  %scratch{n} = alloca [{SCRATCH_BYTES} x i8], align 64" for n in range(self.most_scratch)]
        if self.most_fragment:
            head.append(f"  %fragment = alloca [{4 * LANES * self.most_fragment} x i8], align 64")
        head.append(f"  %registers_at = getelementptr i8, ptr %ctx, i64 {REGISTERS}")
        head.append("  %registers = load ptr, ptr %registers_at, align 8, !invariant.load !0")
        return "\n".join(head + self.b.lines + ["}"])
