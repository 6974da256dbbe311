"""Finds the loops that wait for mbarriers and can end in no other way.

Such a loop looks at mbarriers, at what stays the same throughout the loop, and at nothing else: no counter, no clock,
no memory that others may change. A round in which no mbarrier completed is like the round before. So warps that are in
such loops wait for ever once nobody else can go on (native/exec/block_of_cluster.cpp). A loop that counts its rounds
may give up after any number of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from emulator.ptx.cfg import Block
from emulator.ptx.effects import defs_and_uses, spaces_stored_and_loaded
from emulator.ptx.facts import Flow
from emulator.ptx.ir import Instruction, Special
from emulator.ptx.program import Program

# They have effects, but none that a round leaves behind.
_PASSING = frozenset(("nanosleep", "bar", "barrier", "membar", "fence"))
_CLOCKS = ("clock", "globaltimer", "pm")


def waiting_blocks(program: Program) -> tuple[int, ...]:
    """Returns the basic blocks of such loops, sorted."""
    blocks = program.cfg.blocks
    if not any(_looks_at_mbarrier(i) for block in blocks for i in block.instructions):
        return ()
    loops = (loop for head, loop in _natural_loops(blocks).items() if _only_waits(blocks, head, loop))
    return tuple(sorted(frozenset[int]().union(*loops)))


def _natural_loops(blocks: Sequence[Block]) -> dict[int, frozenset[int]]:
    """Returns the blocks of each loop by the block where it begins; without loops that can be entered elsewhere."""
    predecessors = _predecessors(blocks)
    loops = dict[int, frozenset[int]]()
    for block in blocks:
        for head in block.successors:
            if head > block.index or head >= len(blocks):
                continue
            found = {head}
            work = [block.index]
            while work:
                index = work.pop()
                if index not in found:
                    found.add(index)
                    work += predecessors[index]
            loops[head] = loops.get(head, frozenset()) | found
    return {
        head: loop
        for head, loop in loops.items()
        if (0 not in loop or head == 0) and all(loop.issuperset(predecessors[i]) for i in loop - {head})
    }


def _predecessors(blocks: Sequence[Block]) -> list[list[int]]:
    predecessors: list[list[int]] = [[] for _ in blocks]
    for block in blocks:
        for successor in block.successors:
            if successor < len(blocks):
                predecessors[successor].append(block.index)
    return predecessors


def _only_waits(blocks: Sequence[Block], head: int, loop: frozenset[int]) -> bool:
    """Returns whether rounds are alike while no mbarrier completes, and none can end before it looks at one."""
    instructions = [i for index in loop for i in blocks[index].instructions]
    written = {name for i in instructions for name in defs_and_uses(i)[0]}
    return (
        any(_looks_at_mbarrier(i) for i in blocks[head].instructions)
        and all(_leaves_nothing(i) for i in instructions)
        and written.isdisjoint(blocks[head].live_in)
    )


def _looks_at_mbarrier(i: Instruction) -> bool:
    return i.opcode == "mbarrier" and ("test_wait" in i.modifiers or "try_wait" in i.modifiers)


def _leaves_nothing(i: Instruction) -> bool:
    """Returns whether it changes nothing but registers, and depends on nothing that others may change but mbarriers."""
    if _looks_at_mbarrier(i):
        return True
    facts = i.facts
    if facts.flow not in (Flow.NEXT, Flow.JUMP, Flow.TABLE):
        return i.opcode in ("ret", "exit")  # which end the loop
    if facts.ends_block and facts.flow is Flow.NEXT:
        return False  # a barrier of the block
    if any(name.startswith(_CLOCKS) for name in _specials_of(i)) or i.opcode == "activemask":
        return False
    if i.opcode in _PASSING:
        return True
    if facts.has_effect or facts.reports_faults:
        return False
    return spaces_stored_and_loaded(i) == ((), ())


def _specials_of(i: Instruction) -> Iterator[str]:
    return (operand.name.removeprefix("%") for operand in i.operands if isinstance(operand, Special))
