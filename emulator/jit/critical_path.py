"""Finds the critical path of a basic block: the longest chain of instructions that need each other's results."""

from __future__ import annotations

from collections.abc import Sequence

from emulator.ptx.effects import defs_and_uses, spaces_stored_and_loaded
from emulator.ptx.ir import Instruction


def critical_path(instructions: Sequence[Instruction], steps: Sequence[int]) -> list[int]:
    """Which instructions are on it, by index, the last first. ``steps``: how long each takes.

    A state space counts as a register: what is loaded from it may be what was stored there before, and accesses that
    may meet are issued in their order, so that nothing is loaded before what an earlier store needs is there.
    """
    writers: dict[str, int] = {}
    needed: list[int | None] = []
    lengths: list[int] = []
    for index, instruction in enumerate(instructions):
        written, read = defs_and_uses(instruction)
        stored, loaded = spaces_stored_and_loaded(instruction)
        written, read = (*written, *stored), (*read, *stored, *loaded)
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
