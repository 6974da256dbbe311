"""Finds registers that hold one value for the whole warp, or one value plus a constant per lane.

A ``Shape`` describes such a register; None is "varying". The analysis is about straight uniform execution only, while
all 32 lanes run together: where lanes part, the generated code leaves uniform mode, and comes back after checking that
the live registers have the shapes assumed here. Arithmetic wraps, so an offset may not be looked through when a 32-bit
value is widened, unless the alignment of the base shows that adding the offset never carries (``disjoint``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from emulator.ptx.effects import CARRY, defs_and_uses, has_result
from emulator.ptx.facts import Divergence
from emulator.ptx.ir import Address, Imm, Instruction, Operand, Pair, Reg, Sink, Special, Sym, Vec
from emulator.ptx.program import Program
from emulator.ptx.types import ScalarType
from records import dataclass

LANES = 32
_NO_OFFSETS = (0,) * LANES
_LANE_NUMBERS = tuple(range(LANES))
_MOST = 63


@dataclass(frozen=True, slots=True)
class Shape:
    """The values of a register: lane l holds base + ``offsets[l]``; 2**``align`` divides the base."""

    offsets: tuple[int, ...] = _NO_OFFSETS
    align: int = 0

    @property
    def is_uniform(self) -> bool:
        return self.offsets is _NO_OFFSETS or not any(self.offsets)

    def disjoint(self, bits: int, *, signed: bool = False) -> bool:
        """Returns whether base and offsets share no bits, nor the sign's: base + offset then wraps in no lane."""
        limit = min(self.align, bits - signed)
        return self.is_uniform or (min(self.offsets) >= 0 and max(self.offsets) < 1 << limit)

    @property
    def is_compact(self) -> bool:
        """Whether the offsets are so small that checks of base + least and base + most cover all lanes."""
        return max(map(abs, self.offsets)) < 1 << 31


UNIFORM = Shape()
ZERO = Shape(align=_MOST)


def _trailing_zeros(value: int) -> int:
    return _MOST if value == 0 else min(_MOST, (value & -value).bit_length() - 1)


def _shape(offsets: tuple[int, ...], align: int) -> Shape:
    if not any(offsets):
        offsets = _NO_OFFSETS
    return Shape(offsets, max(0, min(align, _MOST)))


def join(a: Shape | None, b: Shape | None) -> Shape | None:
    """Returns the shape of a register that has one of two shapes; None where their offsets differ."""
    if a is None or b is None or a.offsets != b.offsets:
        return None
    return a if a.align <= b.align else b


def thread_shapes(block: tuple[int, int, int]) -> tuple[Shape | None, Shape | None, Shape | None]:
    """Returns the shapes of %tid.x, .y and .z in full warps."""
    x, y, z = block
    if x % LANES == 0:
        return Shape(_LANE_NUMBERS, 5), UNIFORM, UNIFORM
    if y == 1 and z == 1:
        return Shape(_LANE_NUMBERS, 5), ZERO, ZERO
    if LANES % x == 0:
        rows = LANES // x
        first = _shape(tuple(lane % x for lane in _LANE_NUMBERS), _MOST)
        if y % rows == 0:
            return first, _shape(tuple(lane // x for lane in _LANE_NUMBERS), _trailing_zeros(rows)), UNIFORM
        if rows % y == 0:
            second = _shape(tuple(lane // x % y for lane in _LANE_NUMBERS), _MOST)
            if z % (rows // y) == 0:
                return (
                    first,
                    second,
                    _shape(tuple(lane // (x * y) for lane in _LANE_NUMBERS), _trailing_zeros(rows // y)),
                )
            return first, second, None
        return first, None, None
    return None, None, None


@dataclass(frozen=True, slots=True)
class Shapes:
    """The result: ``of(register)``."""

    registers: Mapping[str, Shape | None]
    #: Ids of instructions that widen a base with offsets: right only where adding them does not wrap.
    widened: frozenset[int]
    thread: tuple[Shape | None, Shape | None, Shape | None]
    constants: Mapping[str, int]  # registers that hold one number wherever they have been written

    def of(self, register: str) -> Shape | None:
        return self.registers[register]


def special_shape(
    name: str, thread: tuple[Shape | None, Shape | None, Shape | None], block: tuple[int, int, int]
) -> Shape | None:
    """Returns the shape of a special register; None for one that varies. ``thread``: those of %tid."""
    if name.startswith("%tid."):
        return thread["xyz".index(name[-1])]
    if name.startswith("%ntid."):
        return Shape(align=_trailing_zeros(block["xyz".index(name[-1])]))
    if name == "%laneid":
        return Shape(_LANE_NUMBERS, _MOST)
    if name.startswith("%lanemask") or name == "%stack":
        return None
    return UNIFORM


def local_shape(stride: int) -> Shape:
    """Returns the shape of the address of a local variable."""
    return _shape(tuple(lane * stride for lane in _LANE_NUMBERS), 0)


_TOP = Shape((1,) * LANES, -1)  # not looked at yet


def source_type(instruction: Instruction) -> ScalarType:
    """Returns the type of the operand that cvt, mul.wide and mad.wide extend."""
    return instruction.types[1] if instruction.opcode == "cvt" else instruction.type


def _collective(instruction: Instruction) -> Shape | None:
    mask = instruction.operands[-1]
    whole = isinstance(mask, Imm) and mask.value & 0xFFFFFFFF == 0xFFFFFFFF
    return UNIFORM if whole or not instruction.has("sync") else None


def analyse_shapes(program: Program, block: tuple[int, int, int]) -> Shapes:
    """Returns the shapes of all registers in full warps of blocks of ``block`` threads."""
    return _ShapeAnalysis(program, block).run()


class _ShapeAnalysis:
    """A forward fixpoint over all instructions, flow-insensitive per register: optimistic start, values only fall."""

    def __init__(self, program: Program, block: tuple[int, int, int]) -> None:
        self._program = program
        self._block = block
        self._thread = thread_shapes(block)
        self._known: dict[str, Shape | None] = {}
        self._constants: dict[str, int] = {}
        self._widened: set[int] = set()

    def run(self) -> Shapes:
        users: dict[str, list[Instruction]] = {}
        work: list[Instruction] = []
        written = Counter(
            name
            for block in self._program.cfg.blocks
            for instruction in block.instructions
            for name in defs_and_uses(instruction)[0]
        )
        for block in self._program.cfg.blocks:
            for instruction in block.instructions:
                if not has_result(instruction):
                    continue
                work.append(instruction)
                self._note_constant(instruction, written)
                for name in set(defs_and_uses(instruction)[1]):
                    users.setdefault(name, []).append(instruction)
        work.reverse()
        pending = set(map(id, work))
        while work:
            instruction = work.pop()
            pending.discard(id(instruction))
            shape = self._transfer(instruction)
            if shape is _TOP:
                continue
            for name in defs_and_uses(instruction)[0]:
                new = self._restrict(name, shape)
                old = self._known.get(name, _TOP)
                merged = new if old is _TOP else join(old, new)
                if name not in self._known or merged != old:
                    self._known[name] = merged
                    for user in users.get(name, ()):
                        if id(user) not in pending:
                            pending.add(id(user))
                            work.append(user)
        for name in self._program.registers:
            self._known.setdefault(name, UNIFORM)
        return Shapes(self._known, frozenset(self._widened & self._carries()), self._thread, self._constants)

    def _carries(self) -> set[int]:
        """Returns the instructions whose results kept their offsets."""
        kept = set()
        for block in self._program.cfg.blocks:
            for instruction in block.instructions:
                if id(instruction) in self._widened:
                    shapes = (self._known.get(name) for name in defs_and_uses(instruction)[0])
                    if all(s is not None and not s.is_uniform for s in shapes):
                        kept.add(id(instruction))
        return kept

    def _note_constant(self, instruction: Instruction, written: Counter[str]) -> None:
        """Notes a register that only one instruction writes, a mov of a known value."""
        target = instruction.operands[0]
        if instruction.opcode != "mov" or instruction.guard is not None or not isinstance(target, Reg):
            return
        value = self._constant(instruction.operands[1])
        if value is not None and written[target.name] == 1:
            self._constants[target.name] = value

    def _constant(self, operand: Operand) -> int | None:
        if isinstance(operand, Imm) and not operand.float_bits:
            return operand.value
        if isinstance(operand, Reg):
            return self._constants.get(operand.name)
        if isinstance(operand, Special) and operand.name.startswith("%ntid."):
            return self._block["xyz".index(operand.name[-1])]
        return None

    def _restrict(self, name: str, shape: Shape | None) -> Shape | None:
        """Returns the shape that the register can have: only 32- and 64-bit integers carry offsets."""
        if shape is None or shape.is_uniform:
            return shape
        scalar = self._program.registers[name]
        return shape if scalar.bits in (32, 64) and not scalar.is_float else None

    def _of(self, operand: Operand) -> Shape | None:
        if isinstance(operand, Reg):
            return self._known.get(operand.name, _TOP)
        if isinstance(operand, Imm):
            return Shape(align=0 if operand.float_bits else _trailing_zeros(operand.value))
        if isinstance(operand, Special):
            return special_shape(operand.name, self._thread, self._block)
        if isinstance(operand, Sym):
            if operand.name in self._program.layout.local:
                return local_shape(self._program.layout.local_bytes)
            if operand.name in self._program.layout.shared:
                return Shape(align=_trailing_zeros(self._program.layout.shared[operand.name] + operand.offset))
            return UNIFORM
        return None

    def _transfer(self, instruction: Instruction) -> Shape | None:
        shape = self._result(instruction)
        if instruction.guard is not None and shape is not None and shape is not _TOP:
            guard = self._known.get(instruction.guard.reg, _TOP)
            if guard is _TOP:
                return _TOP
            if guard is None:
                return None
        return shape

    def _result(self, instruction: Instruction) -> Shape | None:
        match instruction.facts.divergence:
            case Divergence.ALWAYS:
                return None
            case Divergence.NEVER:
                return UNIFORM
            case Divergence.BROADCAST:
                return self._shuffle(instruction)
            case Divergence.FULL_MASK:
                return _collective(instruction)
            case Divergence.ADDRESS:
                return self._load(instruction)
            case Divergence.OPERANDS:
                return self._from_operands(instruction)

    def _from_operands(self, instruction: Instruction) -> Shape | None:
        operands = instruction.operands[1:]
        shapes: list[Shape | None] = []
        for operand in operands:
            items = operand.items if isinstance(operand, Vec) else (operand,)
            if isinstance(operand, Pair):
                items = (operand.first, operand.second)
            for item in items:
                if not isinstance(item, Sink):
                    shapes.append(self._of(item.base) if isinstance(item, Address) else self._of(item))
        if instruction.facts.reads_carry:
            shapes.append(self._known.get(CARRY, _TOP))
        if any(s is _TOP for s in shapes):
            return _TOP if None not in shapes else None
        if any(s is None for s in shapes):
            return None
        if isinstance(instruction.operands[0], Vec) or any(isinstance(o, Vec) for o in operands):
            return UNIFORM if all(s is not None and s.is_uniform for s in shapes) else None
        return self._arithmetic(instruction, [s for s in shapes if s is not None])

    def _load(self, instruction: Instruction) -> Shape | None:
        address = instruction.operands[1]
        assert isinstance(address, Address)
        base = self._of(address.base)
        if base is _TOP:
            return _TOP
        return UNIFORM if base is not None and base.is_uniform else None

    def _shuffle(self, instruction: Instruction) -> Shape | None:
        """Returns the shape of a shuffle: a broadcast of one lane to the whole warp is uniform."""
        lane, clamp = self._of(instruction.operands[2]), instruction.operands[3]
        if "idx" not in instruction.modifiers or not isinstance(clamp, Imm) or clamp.value != 31:
            return None
        if lane is _TOP:
            return _TOP
        return UNIFORM if lane is not None and lane.is_uniform else None

    def _arithmetic(self, instruction: Instruction, shapes: list[Shape]) -> Shape | None:
        opcode = instruction.opcode
        first = shapes[0] if shapes else UNIFORM
        operands = instruction.operands[1:]
        scalar = instruction.type
        if not instruction.type.is_float and instruction.type.lanes == 1:
            match opcode:
                case "mov" | "param":
                    return first
                case "cvta":  # the shared window begins at a multiple of 256
                    return _shape(first.offsets, min(first.align, 8))
                case "add" | "sub" if not (instruction.has("cc") or instruction.has("sat")):
                    other = shapes[1]
                    sign = 1 if opcode == "add" else -1
                    offsets = tuple(a + sign * b for a, b in zip(first.offsets, other.offsets, strict=True))
                    return _shape(offsets, min(first.align, other.align))
                case "mul" | "mad" if "hi" not in instruction.modifiers and scalar.bits >= 32:
                    return self._multiply(instruction, shapes)
                case "shl" | "shr" | "and" | "or" | "xor":
                    constant = self._constant(operands[1])
                    if constant is not None:
                        return self._bitwise(opcode, first, constant, scalar.bits, signed=scalar.is_signed)
                case "cvt":
                    return self._convert(instruction, first)
        return UNIFORM if all(s.is_uniform for s in shapes) else None

    def _multiply(self, instruction: Instruction, shapes: list[Shape]) -> Shape | None:
        a, b = shapes[0], shapes[1]
        constants = [self._constant(o) for o in instruction.operands[1:3]]
        if a.is_uniform and not b.is_uniform:
            a, b = b, a
            constants.reverse()
        if not b.is_uniform:
            return None
        constant = constants[1]
        if not a.is_uniform:
            if constant is None:
                return None
            if instruction.has("wide") and not self._widen(instruction, a):
                return None
            if instruction.has("wide"):
                constant &= 0xFFFFFFFF
                if instruction.type.is_signed and constant >> 31:
                    constant -= 1 << 32
        align = a.align + b.align
        product = _shape(tuple(o * (constant or 0) for o in a.offsets), align)
        if instruction.opcode == "mad":
            c = shapes[2]
            return _shape(
                tuple(x + y for x, y in zip(product.offsets, c.offsets, strict=True)), min(product.align, c.align)
            )
        return product

    @staticmethod
    def _bitwise(opcode: str, a: Shape, constant: int, bits: int, *, signed: bool) -> Shape | None:
        constant &= (1 << bits) - 1
        if opcode == "shl":
            if constant >= bits:
                return UNIFORM
            return _shape(tuple(o << constant for o in a.offsets), a.align + constant)
        if not a.disjoint(bits, signed=opcode == "shr" and signed):
            return None
        if opcode == "shr":
            constant = min(constant, bits)
            return _shape(tuple(o >> constant for o in a.offsets), a.align - constant)
        if opcode == "and":
            return _shape(tuple(o & constant for o in a.offsets), max(a.align, _trailing_zeros(constant)))
        # or, xor are done on the base, which takes the constant's low bits: they are taken out of the offsets again.
        low = constant & ((1 << a.align) - 1)
        merged = ((o | low if opcode == "or" else o ^ low) - low for o in a.offsets)
        return _shape(tuple(merged), min(a.align, _trailing_zeros(constant)))

    def _widen(self, instruction: Instruction, a: Shape) -> bool:
        """Returns whether a 32-bit ``a`` may be extended as base and offsets, with a check in the code if need be."""
        if not a.disjoint(32, signed=source_type(instruction).is_signed):
            if instruction.guard is not None or not a.is_compact:
                return False
            self._widened.add(id(instruction))
        return True

    def _convert(self, instruction: Instruction, a: Shape) -> Shape | None:
        to, source = instruction.types[0], instruction.types[1]
        if a.is_uniform:
            return _shape(a.offsets, 0 if source.is_float or to.is_float else min(a.align, to.bits))
        if to.is_float or source.is_float or instruction.has("sat") or min(to.bits, source.bits) < 32:
            return None
        if to.bits > source.bits and not self._widen(instruction, a):
            return None
        return a
