"""The longest chain of instructions in a basic block, each of which needs the result of the one before."""

from __future__ import annotations

from collections.abc import Sequence

from emulator.ptx.effects import defs_and_uses
from emulator.ptx.ir import Instruction

_STORES = frozenset(("st", "atom", "red", "stmatrix"))
_LOADS = frozenset(("ld", "ldu", "ldmatrix"))
#: Stands for memory as a register does: what is loaded may be what was stored before, and instructions are issued in
#: their order, so that nothing is loaded before what an earlier store needs is there.
_MEMORY = "memory"


def critical_path(instructions: Sequence[Instruction], steps: Sequence[int]) -> list[int]:
    """Which instructions are on it, by index, the last first. ``steps``: how long each takes."""
    writers: dict[str, int] = {}
    needed: list[int | None] = []
    lengths: list[int] = []
    for index, instruction in enumerate(instructions):
        written, read = defs_and_uses(instruction)
        if instruction.opcode in _STORES:
            written, read = (*written, _MEMORY), (*read, _MEMORY)
        elif instruction.opcode in _LOADS:
            read = (*read, _MEMORY)
        last = max((writers[name] for name in read if name in writers), key=lengths.__getitem__, default=None)
        needed.append(last)
        lengths.append(steps[index] + (0 if last is None else lengths[last]))
        writers.update((name, index) for name in written)
    at = max(range(len(lengths)), key=lengths.__getitem__, default=None)
    path = []
    while at is not None:
        path.append(at)
        at = needed[at]
    return path
