"""Finds short blocks that some lanes skip, such as ``if (lane == 0) part[warp] = sum;``.

The uniform function runs such a block under a predicate, which is much faster than to switch to the masked function and
back.
"""

from __future__ import annotations

from emulator.jit.shapes import Shapes
from emulator.ptx.cfg import Block, Cfg
from emulator.ptx.effects import defs_and_uses
from emulator.ptx.facts import Flow

_MOST_INSTRUCTIONS = 12


def predicated_block(cfg: Cfg, shapes: Shapes, block: Block, goal: int | None) -> Block | None:
    """Returns the block after ``block`` if a branch to ``goal`` skips only it, and it can run under a predicate."""
    if goal is None or block.index + 1 >= len(cfg.blocks):
        return None
    side = cfg.blocks[block.index + 1]
    if side.successors != (goal,) or goal >= len(cfg.blocks) or side.index in cfg.loop_heads or goal <= side.index:
        return None
    instructions = side.instructions
    if instructions[-1].facts.flow is Flow.JUMP and instructions[-1].guard is None:
        instructions = instructions[:-1]
    if len(instructions) > _MOST_INSTRUCTIONS:
        return None
    live = cfg.blocks[goal].live_in
    for instruction in instructions:
        if not instruction.facts.is_lanewise or id(instruction) in shapes.widened:
            return None
        # What is kept as one value for all lanes cannot differ between them afterwards.
        if any(name in live and shapes.of(name) is not None for name in defs_and_uses(instruction)[0]):
            return None
    return side
