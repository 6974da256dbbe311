"""Basic blocks of a function, and which registers are live where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emulator.ptx.effects import defs_and_uses, has_effect
from emulator.ptx.errors import PtxError
from emulator.ptx.ir import Imm, Instruction, Label, Operand, Reg, Sym

_SYNC_OPCODES = frozenset(("shfl", "vote", "match", "redux"))


@dataclass(slots=True)
class Block:
    index: int
    instructions: list[Instruction]
    successors: tuple[int, ...] = ()
    live_in: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cfg:
    blocks: tuple[Block, ...]
    labels: dict[str, int]
    loop_heads: frozenset[int]  # targets of backward edges
    joins: frozenset[int]  # more than one way in


def is_barrier(instruction: Instruction) -> bool:
    """A block-wide barrier, other than ``bar.warp.sync``."""
    return (
        instruction.opcode in ("bar", "barrier")
        and "warp" not in instruction.modifiers
        and "cluster" not in instruction.modifiers
    )


def is_warp_sync(instruction: Instruction) -> bool:
    """Waits for the lanes that its mask names: it begins a block, so that they can meet there."""
    if instruction.opcode in _SYNC_OPCODES:
        return "sync" in instruction.modifiers
    return instruction.opcode == "bar" and "warp" in instruction.modifiers


def is_warp_collective(instruction: Instruction) -> bool:
    """Needs all lanes of the warp at once (``.aligned`` matrix instructions)."""
    return instruction.opcode in ("wmma", "mma", "ldmatrix", "stmatrix", "movmatrix")


def sync_mask(instruction: Instruction) -> Operand | None:
    """The lanes (a mask) that must be there before the instruction runs; None when it waits for nobody."""
    if is_warp_collective(instruction):
        return Imm(0xFFFFFFFF)
    if is_warp_sync(instruction):
        mask = instruction.operands[-1]
        return Imm(mask.value & 0xFFFFFFFF) if isinstance(mask, Imm) else mask
    return None


def ends_block(instruction: Instruction) -> bool:
    return instruction.opcode in ("bra", "brx", "ret", "exit", "trap", "brkpt") or is_barrier(instruction)


def build_cfg(
    body: Sequence[Instruction | Label],
    branch_tables: dict[str, tuple[str, ...]],
    restartable: frozenset[int] = frozenset(),
) -> Cfg:
    """Raises ``PtxError`` for a branch to a label that does not exist.

    ``restartable``: ids of instructions before which nothing in their block may have an effect beyond registers, so
    that the block can be begun anew from there.
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
        touched = touched or has_effect(item)
        if isinstance(met, Reg) and met.name in defs_and_uses(item)[0]:
            met = None
        if ends_block(item):
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
    return instruction.guard is None and instruction.opcode in ("bra", "brx", "ret", "exit", "trap")


def _successors(block: Block, labels: dict[str, int], tables: dict[str, tuple[str, ...]]) -> tuple[int, ...]:
    last = block.instructions[-1]
    following = (block.index + 1,)

    def target(name: str) -> int:
        if name not in labels:
            raise PtxError(f"branch to {name}, which is not there")
        return labels[name]

    if last.opcode == "bra":
        operand = last.operands[0]
        assert isinstance(operand, Sym)
        goal: tuple[int, ...] = (target(operand.name),)
    elif last.opcode == "brx":
        operand = last.operands[1]
        assert isinstance(operand, Sym)
        goal = tuple(dict.fromkeys(target(name) for name in tables[operand.name]))
    elif last.opcode in ("ret", "exit", "trap"):
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
