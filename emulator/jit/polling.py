"""Finds the loops that may poll, and the registers that make up a warp's state there.

A profile does not count rounds of a loop that only polled (native/profile/poll_detector.h). It finds them by
comparing the registers that are live where the loop begins, except those that merely count the rounds.
"""

from __future__ import annotations

from collections.abc import Iterator

from emulator.jit.artifact import Polling, Range
from emulator.jit.builder import LANES, SIZE
from emulator.jit.register_file import RegisterFile
from emulator.ptx.effects import defs_and_uses
from emulator.ptx.ir import Imm, Instruction, Reg
from emulator.ptx.opcodes import STRONG
from emulator.ptx.program import Program


def polling_of(program: Program, file: RegisterFile) -> Polling:
    """Returns the loops that may poll, and what is live at each block; nothing without such loops."""
    blocks = program.cfg.blocks
    constants = _constants(program)
    polls = [any(_polls(i, constants) for i in block.instructions) for block in blocks]
    edges = [(head, b.index) for b in blocks for head in b.successors if head <= b.index]
    loops = [range(head, end + 1) for head, end in edges if any(polls[head : end + 1])]
    if not loops:
        return Polling()
    counting = _only_counting(program, frozenset(index for loop in loops for index in loop))
    live = tuple(
        _merged(sorted(r for name in block.live_in - counting for r in _ranges_of(program, file, name)))
        for block in blocks
    )
    return Polling(tuple(sorted({loop.start for loop in loops})), live)


def _constants(program: Program) -> frozenset[str]:
    """Returns the registers that only ever hold literals, as nvcc's code for locks has them."""
    found, others = set[str](), set[str]()
    for block in program.cfg.blocks:
        for i in block.instructions:
            is_named = i.opcode == "mov" and i.guard is None and isinstance(i.operands[1], Imm)
            (found if is_named else others).update(defs_and_uses(i)[0])
    return frozenset(found - others)


def _polls(i: Instruction, constants: frozenset[str]) -> bool:
    """Returns whether it polls: a strong load, a wait, an atomic that changes nothing or tries a lock."""
    if i.opcode == "ld":
        return not STRONG.isdisjoint(i.modifiers)
    if i.opcode == "mbarrier":
        return "test_wait" in i.modifiers or "try_wait" in i.modifiers
    if i.opcode != "atom" or not all(
        isinstance(o, Imm) or (isinstance(o, Reg) and o.name in constants) for o in i.operands[2:]
    ):
        return False
    return i.has("cas") or i.has("exch") or i.operands[2] == Imm(0)


def _only_counting(program: Program, in_loops: frozenset[int]) -> frozenset[str]:
    """Returns the registers of loops that merely count the rounds.

    They begin with some value before the loops, have constants added to them, and are only compared with what stays the
    same.
    """
    blocks = program.cfg.blocks
    changing = {name for index in in_loops for i in blocks[index].instructions for name in defs_and_uses(i)[0]}
    found = {name for block in blocks for i in block.instructions for name in defs_and_uses(i)[0]}
    while True:
        kept = found.difference(
            *(
                _more_than_counts(i, found, changing, in_loop=block.index in in_loops)
                for block in blocks
                for i in block.instructions
            )
        )
        if len(kept) == len(found):
            return frozenset(found)
        found = kept


def _more_than_counts(i: Instruction, counters: set[str], changing: set[str], *, in_loop: bool) -> tuple[str, ...]:
    """Returns the registers that the instruction writes or reads other than as counters."""
    written, read = defs_and_uses(i)
    constants = sum(isinstance(o, Imm) for o in i.operands[1:])
    if i.guard is None and len(read) + constants == len(i.operands) - 1:
        if i.opcode in ("mov", "add", "sub") and not read:
            return written if in_loop else ()
        if i.opcode in ("mov", "add", "sub") and len(read) == 1 and counters.issuperset((*written, *read)):
            return ()
        if i.opcode == "mov" and len(read) == 1 and not in_loop:
            return read  # which tells more, but not so what begins with it
        if i.opcode == "setp" and len(changing.intersection(read)) <= 1:
            return (*written, *(name for name in read if name not in changing))
    return (*written, *read)


def _ranges_of(program: Program, file: RegisterFile, name: str) -> Iterator[Range]:
    type_ = program.registers[name].register
    if type_ == "i1":
        yield Range(file.lanes[name], 4)
        return
    yield Range(file.lanes[name], LANES * SIZE[type_])
    if name in file.scalars:
        yield Range(file.scalars[name], SIZE[type_])


def _merged(ranges: list[Range]) -> tuple[Range, ...]:
    merged: list[Range] = []
    for r in ranges:
        if merged and sum(merged[-1]) == r.offset:
            merged[-1] = Range(merged[-1].offset, merged[-1].size_bytes + r.size_bytes)
        else:
            merged.append(r)
    return tuple(merged)
