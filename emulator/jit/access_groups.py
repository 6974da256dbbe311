"""Groups the accesses of a basic block that lie at constant distances from one another, as unrolled loops have them.

One check of the first and the last byte, made at the first access, covers the group. Where it fails, the block restarts
in the masked function if it still can, so that the accesses themselves need no check.
"""

from __future__ import annotations

from emulator.jit.builder import Value
from emulator.ptx.cfg import Block
from emulator.ptx.effects import defs_and_uses
from emulator.ptx.ir import Address, Instruction, Reg, Vec
from records import dataclass

_MOST_BYTES = 1 << 16


@dataclass(slots=True)
class AccessGroup:
    """The accesses that are checked together, by their displacements from one base register."""

    least: int
    most: int
    count: int = 1
    good: Value | None = None  # i1: the result of the check, once it is emitted
    is_certain: bool = False  # the block restarts where the check fails
    anchor: tuple[Value, int] | None = None  # host address (of shared memory) and displacement of the first access


def access_groups_of(block: Block) -> dict[int, tuple[AccessGroup, int]]:
    """Returns, by the instruction's id, its group and its own displacement. Only of groups with more than one access.

    Those of one group have one base register (not written in between), state space and size, and of global memory one
    kind; they are executed by all lanes, and their distances are multiples of the size, so that all are aligned where
    one is.
    """
    versions: dict[str, int] = {}
    open_groups: dict[tuple[object, ...], AccessGroup] = {}
    found: dict[int, tuple[AccessGroup, int]] = {}
    for instruction in block.instructions:
        at = _plain_access(instruction)
        if at is not None:
            base, displacement, size = at
            kind = "shared" if instruction.has("shared") else instruction.opcode
            key = (kind, base, versions.get(base, 0), size, displacement % size)
            group = open_groups.get(key)
            if group is not None and max(group.most, displacement) - min(group.least, displacement) < _MOST_BYTES:
                group.least, group.most = min(group.least, displacement), max(group.most, displacement)
                group.count += 1
            else:
                group = open_groups[key] = AccessGroup(displacement, displacement)
            found[id(instruction)] = group, displacement
        for name in defs_and_uses(instruction)[0]:
            versions[name] = versions.get(name, 0) + 1
    return {key: (group, at) for key, (group, at) in found.items() if group.count > 1}


def _plain_access(instruction: Instruction) -> tuple[str, int, int] | None:
    """Returns (base register, displacement, bytes) of a shared or global ``ld`` or ``st`` by all lanes."""
    if instruction.opcode not in ("ld", "st") or instruction.guard is not None:
        return None
    if not (instruction.has("shared") or instruction.has("global")):
        return None
    first, second = instruction.operands[:2]  # a cache policy may follow
    address, data = (first, second) if instruction.opcode == "st" else (second, first)
    if not isinstance(address, Address) or not isinstance(address.base, Reg):
        return None
    count = len(data.items) if isinstance(data, Vec) else 1
    return address.base.name, address.offset, instruction.type.size_bytes * count
