"""What the uniform and the masked function have in common: prologue, epilogue, the walk over a block."""

from __future__ import annotations

from emulator.jit.builder import LANES, Value, lanes_type
from emulator.jit.contents import NOT_COUNTED
from emulator.jit.emitter import INVARIANT, SCRATCH_BYTES, Emitter
from emulator.jit.ops import SEMANTICS
from emulator.jit.register_file import RegisterFile
from emulator.jit.unit import Unit
from emulator.jit.warp_context import INSTRUCTIONS, REGISTERS, TALLY, TRAP_SITE
from emulator.ptx.cfg import Block
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

    # -------------------------------------------------------------------------------------------- the register file
    def file_load(self, name: str) -> Value:
        b, type_ = self.b, self._registers[name]
        place = b.offset("%registers", self.file.lanes[name])
        if type_ == "i1":
            return b.unballot(Value(b.load("i32", place, 4), "i32"))
        return Value(b.load(lanes_type(type_), place, 64), type_, True)

    def file_store(self, name: str, value: Value) -> None:
        b, type_ = self.b, self._registers[name]
        place = b.offset("%registers", self.file.lanes[name])
        if type_ == "i1":
            bits = b.ballot(value) if value.vector else b.resize(value, "i32", signed=True)
            b.store("i32", bits.text, place, 4)
        else:
            b.store(lanes_type(type_), b.spread(value), place, 64)

    # ------------------------------------------------------------------------------------------------------- blocks
    def count(self, block: Block, times: int = 1) -> None:
        """Add the block's instructions to the warp's counter, or take them back (``times`` -1)."""
        number = sum(i.opcode not in NOT_COUNTED for i in block.instructions)
        if number:
            b = self.b
            place = b.offset("%ctx", INSTRUCTIONS)
            old = b.load("i64", place, 8)
            b.store("i64", b.emit(f"add i64 {old}, {times * number}"), place, 8)
        if self.unit.observe:
            self._tally(block, times)

    def _tally(self, block: Block, times: int) -> None:
        """One more execution of the block, by so many lanes; or one less."""
        b = self.b
        lanes = self.everyone()
        number = b.integer("i32", LANES) if lanes is None else b.intrinsic("ctpop", b.ballot(lanes))
        tally = b.load("ptr", b.offset("%ctx", TALLY), 8, note=INVARIANT)
        lanes_more = b.op("mul", b.resize(number, "i64"), b.integer("i64", times))
        for index, more in enumerate((b.integer("i64", times), lanes_more)):
            place = b.offset(tally, 16 * block.index + 8 * index)
            old = Value(b.load("i64", place, 8), "i64")
            b.store("i64", b.op("add", old, more).text, place, 8)

    def do(self, instruction: Instruction) -> None:
        self.begin(instruction)
        emit = SEMANTICS.get(instruction.opcode)
        if emit is None:
            raise self.unsupported()
        check_modifiers(instruction)
        try:
            emit(self, instruction)
        except MALFORMED as error:  # operands that it has nowhere in PTX, or that nobody here has thought of
            raise self.unsupported(f"the instruction {instruction.name} with such operands") from error

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
        """The whole function, with its prologue."""
        head = [f"define internal i32 @{name}(ptr noalias %ctx) #0 {{", "entry:"]
        head += [f"  %scratch{n} = alloca [{SCRATCH_BYTES} x i8], align 64" for n in range(self.most_scratch)]
        head.append(f"  %registers_at = getelementptr i8, ptr %ctx, i64 {REGISTERS}")
        head.append("  %registers = load ptr, ptr %registers_at, align 8, !invariant.load !0")
        return "\n".join(head + self.b.lines + ["}"])
