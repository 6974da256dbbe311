"""Short blocks that some lanes skip: ``if (lane == 0) part[warp] = sum;``

The uniform function does such a block under a mask itself, which is much quicker than to change over to the masked
function and back.
"""

from __future__ import annotations

from emulator.jit.shapes import Shapes
from emulator.ptx.cfg import Block, Cfg
from emulator.ptx.effects import defs_and_uses

_MOST_INSTRUCTIONS = 12
# What means the same for each lane whatever the others do.
_PLAIN = frozenset(
    (
        *("ld", "st", "atom", "red", "mov", "cvt", "cvta", "setp", "selp", "slct", "set"),
        *("add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "abs", "neg", "sad", "mul24", "mad24"),
        *("and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf", "prmt", "bfe", "bfi", "popc", "clz", "brev"),
        *("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", "bfind"),
    )
)


def side_of(cfg: Cfg, shapes: Shapes, block: Block, goal: int | None) -> Block | None:
    """The block after ``block``, when the lanes that branch to ``goal`` skip it and no more, and it is simple."""
    if goal is None or block.index + 1 >= len(cfg.blocks):
        return None
    side = cfg.blocks[block.index + 1]
    if side.successors != (goal,) or goal >= len(cfg.blocks) or side.index in cfg.loop_heads or goal <= side.index:
        return None
    instructions = side.instructions
    if instructions[-1].opcode == "bra" and instructions[-1].guard is None:
        instructions = instructions[:-1]
    if len(instructions) > _MOST_INSTRUCTIONS:
        return None
    live = cfg.blocks[goal].live_in
    for instruction in instructions:
        if instruction.opcode not in _PLAIN or id(instruction) in shapes.widened:
            return None
        # What is kept as one value for all lanes cannot differ between them afterwards.
        if any(name in live and shapes.of(name) is not None for name in defs_and_uses(instruction)[0]):
            return None
    return side
