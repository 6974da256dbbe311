"""Finds loads whose value is a guess that an atomic checks: racecheck does not accuse them."""

from __future__ import annotations

from collections.abc import Iterable

from emulator.ptx.effects import defs_and_uses
from emulator.ptx.facts import Memory
from emulator.ptx.ir import Address, Imm, Instruction, Operand, Reg, Vec

_PURE = frozenset(("mov", "add", "sub", "mul", "mad", "shl", "cvt", "cvta"))
_ADDS = frozenset(("add.s64", "add.u64"))


def guesses_of(instructions: Iterable[Instruction]) -> frozenset[int]:
    """Returns the ids of the plain loads after which, in the program's text, an atomic follows on the same address.

    ``old = *p; do ... while (atomicCAS(p, ...) != old)`` and ``if (x > *p) atomicMax(p, x)`` are right whatever the
    load finds, since the atomic looks again. Of a load that comes after the atomic nothing of the kind is known.
    """
    instructions = tuple(instructions)
    places = _Places(instructions)
    loads: dict[tuple[object, int, int], list[int]] = {}
    found: set[int] = set()
    for i in instructions:
        address = next((operand for operand in i.operands if isinstance(operand, Address)), None)
        if address is None:
            continue
        base, offset = places.of(address.base)
        where = base, offset + address.offset, i.type.bits
        if i.facts.memory is Memory.ATOMIC:
            found.update(loads.get(where, ()))
        elif i.opcode == "ld" and not any(isinstance(operand, Vec) for operand in i.operands):
            loads.setdefault(where, []).append(id(i))
    return frozenset(found)


class _Places:
    """Expressions of addresses: two that are equal here are equal when the kernel runs."""

    def __init__(self, instructions: Iterable[Instruction]) -> None:
        self._definitions: dict[str, Instruction | None] = {}  # None: there are several
        for i in instructions:
            for name in defs_and_uses(i)[0]:
                self._definitions[name] = None if name in self._definitions else i

    def of(self, operand: Operand) -> tuple[object, int]:
        """Returns an expression, and a number of bytes to add to it."""
        return self._traced(operand) or (operand, 0)

    def _traced(self, operand: Operand) -> tuple[object, int] | None:
        """Returns None for what depends on a register that several instructions write."""
        if not isinstance(operand, Reg):
            return operand, 0
        made = self._definitions.get(operand.name)
        if made is None or made.guard is not None:
            return None
        if made.opcode not in _PURE:
            return operand, 0
        parts = [self._traced(source) for source in made.operands[1:]]
        traced = [part for part in parts if part is not None]
        if len(traced) < len(parts):
            return None
        if made.opcode == "mov":
            return traced[0]
        if made.name in _ADDS and isinstance(made.operands[2], Imm):
            return traced[0][0], traced[0][1] + made.operands[2].value
        return (made.name, *traced), 0
