"""Finds loads whose value is a guess that an atomic checks: racecheck does not accuse them."""

from __future__ import annotations

from collections.abc import Iterable

from emulator.ptx.facts import Memory
from emulator.ptx.ir import Address, Instruction, Vec


def guesses_of(instructions: Iterable[Instruction]) -> frozenset[int]:
    """Returns the ids of the plain loads after which, in the program's text, an atomic follows on the same address.

    ``old = *p; do ... while (atomicCAS(p, ...) != old)`` and ``if (x > *p) atomicMax(p, x)`` are right whatever the
    load finds, since the atomic looks again. Of a load that comes after the atomic nothing of the kind is known.
    """
    instructions = tuple(instructions)
    copied = {i.operands[0]: i.operands[1] for i in instructions if i.opcode == "mov" and i.guard is None}
    loads: dict[tuple[object, int, int], list[int]] = {}
    found: set[int] = set()
    for i in instructions:
        address = next((operand for operand in i.operands if isinstance(operand, Address)), None)
        if address is None:
            continue
        where = copied.get(address.base, address.base), address.offset, i.type.bits
        if i.facts.memory is Memory.ATOMIC:
            found.update(loads.get(where, ()))
        elif i.opcode == "ld" and not any(isinstance(operand, Vec) for operand in i.operands):
            loads.setdefault(where, []).append(id(i))
    return frozenset(found)
