"""Where a warp's registers lie while the warp does not run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from emulator.jit.builder import LANES, SIZE
from emulator.jit.segments import cut_blocks
from emulator.jit.shapes import Shapes
from emulator.ptx.program import Program
from records import dataclass

ORIGIN_BYTES = 2 * LANES  # of one register


@dataclass(frozen=True, slots=True)
class RegisterFile:
    """Offsets of the registers that are live between blocks.

    ``lanes``: 32 of them, predicates as a bit mask, which serve both functions. ``scalars``: lane 0's value of those
    with a shape, for the uniform function; they lie together, so that a warp fills few lines of the cache.
    ``masked``: ``lanes``, and those registers that are live only where the masked function cuts a block. ``origins``:
    of the registers that are followed (``origins``).
    """

    lanes: Mapping[str, int]
    scalars: Mapping[str, int]
    masked: Mapping[str, int]
    origins: Mapping[str, int]
    size_bytes: int


def lay_out_registers(
    program: Program, shapes: Shapes, *, lanes_apart: bool = False, followed: Sequence[str] = ()
) -> RegisterFile:
    """Returns the register file of a kernel.

    ``lanes_apart`` is as in ``cut_blocks``; ``followed``: the registers that have origins.
    """
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
    end = _place(lanes, (name for name in live if types[name] != "i1"), program, end)
    masked = dict(lanes)
    cut = (segment for segments in cut_blocks(program.cfg, lanes_apart=lanes_apart) for segment in segments[1:])
    end = _place(masked, sorted(frozenset[str]().union(*(s.live_in for s in cut)) - lanes.keys()), program, end)
    end = -(-end // 64) * 64
    origins = {name: end + index * ORIGIN_BYTES for index, name in enumerate(followed)}
    return RegisterFile(lanes, scalars, masked, origins, end + len(origins) * ORIGIN_BYTES)


def _place(places: dict[str, int], names: Iterable[str], program: Program, end: int) -> int:
    """Adds the offsets of all lanes of these registers, from ``end`` on. Returns where they end."""
    for name in names:
        type_ = program.registers[name].register
        end = -(-end // 64) * 64
        places[name] = end
        end += 4 if type_ == "i1" else LANES * SIZE[type_]
    return end
