"""The stack: frames of recursive functions, and ``alloca``.

A lane's stack grows upward from ``%stack`` (a special register of our own); ``STACK_TOP`` is where it ends now, and
``_FRAME`` where the running function's frame begins. A frame holds, in this order: the number of the place to return
to (4 bytes) and, at 8, the caller's ``_FRAME``; the function's results and parameters, which the caller reads and
writes relative to its ``STACK_TOP``; its local variables; registers that live across calls which may come back to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from emulator.ptx.cfg import build_cfg
from emulator.ptx.effects import defs_and_uses
from emulator.ptx.errors import Unsupported
from emulator.ptx.inline import STACK_TOP, Piece
from emulator.ptx.ir import Address, Guard, Imm, Instruction, Label, Location, Operand, Reg, Special, Sym, Variable, Vec
from emulator.ptx.types import TYPES, ScalarType, untyped

_FRAME = "%stack.frame"
_RETURN = "%stack.return"
_SCRATCH = "%stack.scratch"
_ADDRESS = "%stack.address"
_HEADER_BYTES = 16
_REGISTERS = {
    STACK_TOP: TYPES["b64"],
    _FRAME: TYPES["b64"],
    _RETURN: TYPES["b32"],
    _SCRATCH: TYPES["b64"],
    _ADDRESS: TYPES["b64"],
}
_Body = list[Instruction | Label]


def needs_stack(kernel: Piece, shared: dict[str, Piece]) -> bool:
    """Returns whether a kernel needs a stack: it calls functions that it shares, or allocates there."""
    return bool(shared) or any(i.opcode in ("alloca", "stacksave", "stackrestore") for i in kernel.instructions())


def lower_stack(kernel: Piece, shared: dict[str, Piece]) -> Piece:
    """All of it as one piece without ``enter``, ``alloca`` and ``ret`` from functions.

    The functions come before the kernel's own code: lanes that are still in one then run first, and all meet again
    where they return to.
    """
    frames = {name: _Frame(piece) for name, piece in shared.items()}
    whole = Piece(kernel.function, registers={**_REGISTERS})
    main = "stack.main"
    start = Location("", 0)
    whole.body += [
        _make("mov", "b64", Reg(STACK_TOP), Special("%stack"), at=start),
        _make("mov", "b64", Reg(_FRAME), Reg(STACK_TOP), at=start),
        Instruction("bra", (), (Sym(main),)),
    ]
    parts: list[tuple[Piece, _Frame | None]] = [(piece, frames[name]) for name, piece in shared.items()]
    for piece, frame in [*parts, (kernel, None)]:
        if frame is None:
            whole.body.append(Label(main))
        whole.body += _Lowering(piece, frame, frames).run()
        whole.registers.update(piece.registers)
        whole.branch_tables.update(piece.branch_tables)
        whole.variables.update((name, v) for name, v in piece.variables.items() if v.space == "shared" or frame is None)
    for frame in frames.values():
        whole.branch_tables[frame.returns_table] = tuple(frame.return_labels)
    return whole


class _Frame:
    """The stack frame of one recursive function. Offsets are in bytes from its start."""

    def __init__(self, piece: Piece) -> None:
        name = piece.function.name
        self.start = f"stack.{name}"
        self.returns_table = f"stack.returns.{name}"
        self.return_labels: list[str] = []
        self.cycle = piece.cycle
        self._end = _HEADER_BYTES
        self.formals = [self._reserve_variable(v) for v in piece.formals]
        self.offsets = {v.name: offset for v, offset in zip(piece.formals, self.formals, strict=True)}
        self._saved: dict[str, int] = {}

    def add(self, variable: Variable) -> None:
        self.offsets[variable.name] = self._reserve_variable(variable)

    def slot(self, register: str, size: int) -> int:
        if register not in self._saved:
            self._saved[register] = self._reserve(size, size)
        return self._saved[register]

    def size(self) -> int:
        return -(-self._end // 16) * 16

    def _reserve_variable(self, variable: Variable) -> int:
        return self._reserve(max(1, variable.size), max(1, variable.align))

    def _reserve(self, size: int, align: int) -> int:
        offset = -(-self._end // align) * align
        self._end = offset + size
        return offset


class _Lowering:
    """One piece, as plain instructions. ``frame`` is None for the kernel, whose variables have fixed offsets."""

    def __init__(self, piece: Piece, frame: _Frame | None, frames: dict[str, _Frame]) -> None:
        self._piece = piece
        self._frame = frame
        self._frames = frames
        self._addresses: dict[str, tuple[str, int]] = {}  # variable → register, offset from it
        self._labels = 0

    def run(self) -> _Body:
        for instruction in self._piece.instructions():
            if instruction.opcode == "enter":
                self._bind_arguments(instruction)
        if self._frame is not None:
            for variable in self._piece.variables.values():
                if variable.space in ("local", "param") and variable.name not in self._addresses:
                    self._frame.add(variable)
            self._addresses.update((name, (_FRAME, offset)) for name, offset in self._frame.offsets.items())
        live = _live_after(self._piece)
        body: _Body = []
        for item in self._piece.body:
            if isinstance(item, Label):
                body.append(item)
            elif item.opcode == "enter":
                body += self._enter(item, live[id(item)])
            elif item.opcode == "ret" and self._frame is not None:
                body += self._return(item, self._frame)
            else:
                body += self._plain(item)
        self._piece.variables = {n: v for n, v in self._piece.variables.items() if n not in self._addresses}
        return [*self._prologue(), *body]

    def _bind_arguments(self, enter: Instruction) -> None:
        results, target, arguments = enter.operands
        assert isinstance(results, Vec)
        assert isinstance(target, Sym)
        assert isinstance(arguments, Vec)
        for given, offset in zip((*results.items, *arguments.items), self._frames[target.name].formals, strict=True):
            assert isinstance(given, Sym)
            place = (STACK_TOP, offset)
            if self._addresses.setdefault(given.name, place) != place:
                raise Unsupported("one parameter in two calls", enter.location.file, enter.location.line)

    def _prologue(self) -> _Body:
        frame = self._frame
        if frame is None:
            return []
        location = next((i.location for i in self._piece.instructions()), Location("", 0))
        return [
            Label(frame.start),
            _make("mov", "b64", Reg(_FRAME), Reg(STACK_TOP), at=location),
            _make("add", "u64", Reg(STACK_TOP), Reg(STACK_TOP), Imm(frame.size()), at=location),
            Instruction("stackcheck", (), (Reg(STACK_TOP),), None, location),
        ]

    # ------------------------------------------------------------------------------------------------ enter, leave
    def _enter(self, enter: Instruction, live: frozenset[str]) -> Iterator[Instruction | Label]:
        target, at = enter.operands[1], enter.location
        assert isinstance(target, Sym)
        callee = self._frames[target.name]
        number = len(callee.return_labels)
        label = f"{callee.start}.{number}"
        callee.return_labels.append(label)
        saved = sorted(live - _REGISTERS.keys()) if self._frame and target.name in self._frame.cycle else []
        for name in saved:
            yield from self._save(name, at)
        yield _make("st", "local.u64", Address(Reg(STACK_TOP), 8), Reg(_FRAME), at=at)
        yield _make("st", "local.u32", Address(Reg(STACK_TOP)), Imm(number), at=at)
        yield Instruction("bra", (), (Sym(callee.start),), None, at)
        yield Label(label)
        yield _make("ld", "local.u64", Reg(_FRAME), Address(Reg(STACK_TOP), 8), at=at)
        for name in saved:
            yield from self._restore(name, at)

    def _slot(self, name: str, at: Location) -> tuple[ScalarType, Address]:
        scalar = self._piece.registers[name]
        if scalar.bits > 64:
            raise Unsupported("a 128-bit register across a recursive call", at.file, at.line)
        kept = TYPES["u32"] if scalar.is_predicate else untyped(max(8, scalar.bits))
        assert self._frame is not None
        return kept, Address(Reg(_FRAME), self._frame.slot(name, kept.size_bytes))

    def _save(self, name: str, at: Location) -> Iterator[Instruction]:
        kept, slot = self._slot(name, at)
        value = Reg(name)
        if self._piece.registers[name].is_predicate:
            value = Reg(_RETURN)
            yield _make("selp", "u32", value, Imm(1), Imm(0), Reg(name), at=at)
        yield _make("st", f"local.{kept.name}", slot, value, at=at)

    def _restore(self, name: str, at: Location) -> Iterator[Instruction]:
        kept, slot = self._slot(name, at)
        is_predicate = self._piece.registers[name].is_predicate
        target = Reg(_RETURN if is_predicate else name)
        yield _make("ld", f"local.{kept.name}", target, slot, at=at)
        if is_predicate:
            yield _make("setp", "ne.u32", Reg(name), target, Imm(0), at=at)

    def _return(self, ret: Instruction, frame: _Frame) -> Iterator[Instruction | Label]:
        at = ret.location
        skip = f"{frame.start}.stay{self._labels}"
        self._labels += 1
        if ret.guard is not None:
            yield Instruction("bra", (), (Sym(skip),), Guard(ret.guard.reg, not ret.guard.negated), at)
        yield _make("mov", "b64", Reg(STACK_TOP), Reg(_FRAME), at=at)
        yield _make("ld", "local.u32", Reg(_RETURN), Address(Reg(_FRAME)), at=at)
        yield _make("brx", "idx", Reg(_RETURN), Sym(frame.returns_table), at=at)
        yield Label(skip)

    # -------------------------------------------------------------------------------------------- other instructions
    def _plain(self, i: Instruction) -> Iterator[Instruction]:
        if i.opcode == "alloca":
            yield from _allocate(i)
        elif i.opcode == "stacksave":
            yield replace(i, opcode="mov", modifiers=("b64",), operands=(i.operands[0], Reg(STACK_TOP)))
        elif i.opcode == "stackrestore":
            yield replace(i, opcode="mov", modifiers=("b64",), operands=(Reg(STACK_TOP), i.operands[0]))
        else:
            yield from self._rebased(i)

    def _rebased(self, i: Instruction) -> Iterator[Instruction]:
        """Yields the instruction with variables in frames addressed through their base registers."""
        operands: list[Operand] = []
        modifiers = i.modifiers
        for operand in i.operands:
            symbol = operand.base if isinstance(operand, Address) else operand
            place = self._addresses.get(symbol.name) if isinstance(symbol, Sym) else None
            if place is None:
                operands.append(operand)
                continue
            assert isinstance(symbol, Sym)
            base, offset = place[0], place[1] + symbol.offset
            if isinstance(operand, Address):
                operands.append(Address(Reg(base), offset + operand.offset))
                modifiers = tuple("local" if m == "param" else m for m in modifiers)
            else:
                yield _make("add", "u64", Reg(_ADDRESS), Reg(base), Imm(offset), at=i.location)
                operands.append(Reg(_ADDRESS))
        yield replace(i, modifiers=modifiers, operands=tuple(operands))


def _allocate(i: Instruction) -> Iterator[Instruction]:
    """``alloca pointer, size {, alignment}``: pointer = top, rounded up; top = pointer + size."""
    target, size, *rest = i.operands
    align = max(16, rest[0].value if rest and isinstance(rest[0], Imm) else 16)
    top, scratch = Reg(STACK_TOP), Reg(_SCRATCH)
    for opcode, type_, operands in (
        ("add", "u64", (scratch, size, Imm(15))),
        ("and", "b64", (scratch, scratch, Imm(-16))),
        ("add", "u64", (top, top, Imm(align - 1))),
        ("and", "b64", (top, top, Imm(-align))),
        ("mov", "b64", (target, top)),
        ("add", "u64", (top, top, scratch)),
    ):
        yield Instruction(opcode, (type_,), operands, i.guard, i.location)
    yield Instruction("stackcheck", (), (top,), i.guard, i.location)


def _live_after(piece: Piece) -> dict[int, frozenset[str]]:
    """Returns, for each ``enter`` (by id), the registers that are live after it."""
    cfg = build_cfg(piece.body, piece.branch_tables)
    found: dict[int, frozenset[str]] = {}
    for block in cfg.blocks:
        live: set[str] = set()
        for successor in block.successors:
            if successor < len(cfg.blocks):
                live |= cfg.blocks[successor].live_in
        for instruction in reversed(block.instructions):
            if instruction.opcode == "enter":
                found[id(instruction)] = frozenset(live)
            written, read = defs_and_uses(instruction)
            live.difference_update(written)
            live.update(read)
    return found


def _make(opcode: str, modifiers: str, *operands: Operand, at: Location) -> Instruction:
    return Instruction(opcode, tuple(modifiers.split(".")), operands, None, at)
