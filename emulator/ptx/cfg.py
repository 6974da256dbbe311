"""Builds the basic blocks of a function and computes which registers are live in each."""

from __future__ import annotations

from collections.abc import Sequence

from emulator.ptx.effects import defs_and_uses
from emulator.ptx.errors import PtxError
from emulator.ptx.facts import Flow, Sync
from emulator.ptx.ir import Imm, Instruction, Label, Operand, Reg, Sym
from records import dataclass


@dataclass(slots=True)
class Block:
    """A basic block: its number, and the blocks that may follow it."""

    index: int
    instructions: list[Instruction]
    successors: tuple[int, ...] = ()
    live_in: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cfg:
    """The control flow of a function: ``blocks`` in order of the text, and the block of each label."""

    blocks: tuple[Block, ...]
    labels: dict[str, int]
    loop_heads: frozenset[int]  # targets of backward edges
    joins: frozenset[int]  # more than one way in


def is_barrier(instruction: Instruction) -> bool:
    """Returns whether it waits for threads of other warps; ``bar.warp.sync`` does not."""
    return instruction.facts.sync is Sync.BLOCK


def sync_mask(instruction: Instruction) -> Operand | None:
    """Returns the mask of lanes that must arrive before the instruction runs; None when it waits for no lane.

    Such an instruction begins a basic block, so that the lanes can meet there.
    """
    sync = instruction.facts.sync
    if sync is Sync.WARP:
        return Imm(0xFFFFFFFF)
    if meets_elsewhere(instruction):
        mask = instruction.operands[-1]
        return Imm(mask.value & 0xFFFFFFFF) if isinstance(mask, Imm) else mask
    return None


def meets_elsewhere(instruction: Instruction) -> bool:
    """Returns whether lanes that wait for others meet them at any instruction of the same kind.

    Those of matrices must be executed by all lanes at one place.
    """
    return instruction.facts.sync is Sync.MASK and "sync" in instruction.modifiers


def build_cfg(
    body: Sequence[Instruction | Label],
    branch_tables: dict[str, tuple[str, ...]],
    restartable: frozenset[int] = frozenset(),
) -> Cfg:
    """Raises ``PtxError`` for a branch to a label that does not exist.

    ``restartable``: ids of instructions before which nothing in their block may have an effect beyond registers, so
    that the block can restart there.
    """
    groups: list[list[Instruction]] = [[]]
    labels: dict[str, int] = {}
    met: Operand | None = None
    touched = False
    for item in body:
        if isinstance(item, Label):
            if groups[-1]:
                groups.append([])
            met = None
            touched = False
            labels[item.name] = len(groups) - 1
            continue
        if touched and id(item) in restartable:
            groups.append([])
            met = None
            touched = False
        waits_for = sync_mask(item)
        if waits_for is not None:
            # Lanes that met for one mask stay together: only a wait for other lanes needs a block of its own.
            if groups[-1] and waits_for != met:
                groups.append([])
            met = waits_for
        groups[-1].append(item)
        touched = touched or item.facts.has_effect
        if isinstance(met, Reg) and met.name in defs_and_uses(item)[0]:
            met = None
        if item.facts.ends_block:
            groups.append([])
            met = None
            touched = False
    if not groups[-1] and len(groups) - 1 not in labels.values():
        groups.pop()
    if not groups or not groups[-1] or not _leaves(groups[-1][-1]):
        if groups and groups[-1] and groups[-1][-1].guard is not None:
            groups.append([])
        (groups or [[]])[-1].append(Instruction("exit", (), ()))
    blocks = tuple(Block(i, g) for i, g in enumerate(groups))
    for block in blocks:
        block.successors = _successors(block, labels, branch_tables)
    _liveness(blocks)
    incoming = [0] * len(blocks)
    for block in blocks:
        for successor in block.successors:
            incoming[successor] += 1
    heads = frozenset(s for b in blocks for s in b.successors if s <= b.index)
    joins = frozenset(i for i, count in enumerate(incoming) if count > 1)
    return Cfg(blocks, labels, heads, joins)


def _leaves(instruction: Instruction) -> bool:
    return instruction.guard is None and instruction.facts.flow not in (Flow.NEXT, Flow.BREAKPOINT)


def _successors(block: Block, labels: dict[str, int], tables: dict[str, tuple[str, ...]]) -> tuple[int, ...]:
    last = block.instructions[-1]
    following = (block.index + 1,)

    def target(name: str) -> int:
        if name not in labels:
            raise PtxError(f"branch to {name}, which is not there")
        return labels[name]

    def named(operand: Operand) -> str:
        if not isinstance(operand, Sym):
            raise PtxError(f"branch to {operand}, which is not a label")
        return operand.name

    flow = last.facts.flow
    if flow is Flow.JUMP:
        goal: tuple[int, ...] = (target(named(last.operands[0])),)
    elif flow is Flow.TABLE:
        goal = tuple(dict.fromkeys(target(name) for name in tables[named(last.operands[1])]))
    elif flow in (Flow.LEAVE, Flow.TRAP):
        goal = ()
    else:
        return following
    if last.guard is None:
        return goal
    return goal if following[0] in goal else (*goal, *following)


def _liveness(blocks: Sequence[Block]) -> None:
    gen: list[set[str]] = []
    kill: list[set[str]] = []
    for block in blocks:
        used: set[str] = set()
        defined: set[str] = set()
        for instruction in block.instructions:
            written, read = defs_and_uses(instruction)
            used.update(name for name in read if name not in defined)
            defined.update(written)
        gen.append(used)
        kill.append(defined)
    live: list[set[str]] = [set() for _ in blocks]
    predecessors: list[list[int]] = [[] for _ in blocks]
    for block in blocks:
        for successor in block.successors:
            predecessors[successor].append(block.index)
    work = list(range(len(blocks)))
    queued = [True] * len(blocks)
    while work:
        index = work.pop()
        queued[index] = False
        out: set[str] = set()
        for successor in blocks[index].successors:
            out |= live[successor]
        new = gen[index] | (out - kill[index])
        if len(new) != len(live[index]):
            live[index] = new
            for predecessor in predecessors[index]:
                if not queued[predecessor]:
                    queued[predecessor] = True
                    work.append(predecessor)
    for block in blocks:
        block.live_in = frozenset(live[block.index])
