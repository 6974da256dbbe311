"""Finds stores of constants: several threads that set one flag agree on what it becomes."""

from __future__ import annotations

from collections.abc import Iterable

from emulator.ptx.effects import defs_and_uses
from emulator.ptx.ir import Imm, Instruction, Reg, elements_of


def constant_stores(instructions: Iterable[Instruction]) -> frozenset[int]:
    """Returns the ids of the stores of which each element is an immediate, or a register that only ever holds one."""
    instructions = tuple(instructions)
    moved: dict[str, bool] = {}
    for i in instructions:
        is_constant = i.opcode == "mov" and i.guard is None and isinstance(i.operands[1], Imm)
        for name in defs_and_uses(i)[0]:
            moved[name] = is_constant and name not in moved
    return frozenset(id(i) for i in instructions if i.opcode == "st" and _stores_constants(i, moved))


def _stores_constants(i: Instruction, moved: dict[str, bool]) -> bool:
    items = elements_of(i.operands[1])
    return all(isinstance(it, Imm) or (isinstance(it, Reg) and moved.get(it.name, False)) for it in items)
