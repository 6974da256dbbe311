"""Where a warp's registers lie while the warp does not run."""

from __future__ import annotations

from collections.abc import Mapping

from emulator.jit.builder import LANES, SIZE
from emulator.jit.shapes import Shapes
from emulator.ptx.program import Program
from emulator.records import dataclass


@dataclass(frozen=True, slots=True)
class RegisterFile:
    """Offsets of the registers that are live between blocks.

    ``lanes``: 32 of them, predicates as a bit mask, which serve both functions. ``scalars``: lane 0's value of those
    with a shape, for the uniform function; they lie together, so that a warp fills few lines of the cache.
    """

    lanes: Mapping[str, int]
    scalars: Mapping[str, int]
    size_bytes: int


def lay_out_registers(program: Program, shapes: Shapes) -> RegisterFile:
    """Returns the register file of a kernel."""
    live = sorted(frozenset[str]().union(*(block.live_in for block in program.cfg.blocks)))
    types = {name: program.registers[name].register for name in live}
    predicates = [name for name in live if types[name] == "i1"]
    scalars: dict[str, int] = {}
    end = 4 * len(predicates)
    for name in sorted(types.keys() - set(predicates), key=lambda name: (SIZE[types[name]], name)):
        if shapes.of(name) is not None:
            size = SIZE[types[name]]
            end = -(-end // size) * size
            scalars[name] = end
            end += size
    lanes = {name: 4 * index for index, name in enumerate(predicates)}
    for name in live:
        if types[name] != "i1":
            end = -(-end // 64) * 64
            lanes[name] = end
            end += LANES * SIZE[types[name]]
    return RegisterFile(lanes, scalars, end)
