"""Cuts basic blocks where lanes of a warp may have to wait for others that are at another instruction.

The masked function runs a block segment by segment. The first segment has the block's number; the others, each of
which begins with a ``.sync`` instruction, have numbers behind those of all blocks.
"""

from __future__ import annotations

from emulator.ptx.cfg import Block, Cfg, meets_elsewhere
from emulator.ptx.effects import defs_and_uses
from emulator.ptx.ir import Instruction
from records import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of a block: ``live_in`` are the registers that are live where it begins."""

    number: int
    instructions: tuple[Instruction, ...]
    live_in: frozenset[str]

    @property
    def meets(self) -> bool:
        """Whether its lanes meet others at its first instruction, wherever those are."""
        return meets_elsewhere(self.instructions[0])


def cut_blocks(cfg: Cfg, *, lanes_apart: bool = False) -> tuple[tuple[Segment, ...], ...]:
    """Returns the segments of each block. ``lanes_apart``: some lanes may go on alone behind a ``__syncwarp()``."""
    number = len(cfg.blocks)
    cut = []
    for block in cfg.blocks:
        meetings = [at for at, each in enumerate(block.instructions) if meets_elsewhere(each)]
        ends = [at + 1 for at in meetings if lanes_apart and block.instructions[at].opcode == "bar"]
        starts = sorted({0, *meetings, *(end for end in ends if end < len(block.instructions))})
        live = _live_at(cfg, block, starts)
        numbers = [block.index, *range(number, number + len(starts) - 1)]
        number += len(starts) - 1
        ends = [*starts[1:], len(block.instructions)]
        cut.append(
            tuple(
                Segment(each, tuple(block.instructions[start:end]), live[start])
                for each, start, end in zip(numbers, starts, ends, strict=True)
            )
        )
    return tuple(cut)


def _live_at(cfg: Cfg, block: Block, places: list[int]) -> dict[int, frozenset[str]]:
    """Returns the registers that are live before the instructions at ``places``."""
    live_at = {0: block.live_in}
    if len(places) == 1:
        return live_at
    live = set[str]().union(*(cfg.blocks[s].live_in for s in block.successors if s < len(cfg.blocks)))
    for at in range(len(block.instructions) - 1, 0, -1):
        written, read = defs_and_uses(block.instructions[at])
        live.difference_update(written)
        live.update(read)
        if at in places:
            live_at[at] = frozenset(live)
    return live_at
