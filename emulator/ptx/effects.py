"""Finds the registers and state spaces that an instruction reads and writes."""

from __future__ import annotations

from collections.abc import Iterator

from emulator.ptx.facts import Memory
from emulator.ptx.ir import Address, Instruction, Operand, Pair, Reg, Vec

CARRY = "%cc"  # the condition code register, which is treated as a predicate

_WRITABLE_SPACES = ("shared", "global", "local")
#: Modifiers of accesses to memory that nothing writes while a kernel runs.
_READ_ONLY = frozenset(("const", "param", "nc"))


def has_result(instruction: Instruction) -> bool:
    """Returns whether its first operand is a destination."""
    return bool(instruction.operands) and instruction.facts.writes


def registers_of(operand: Operand) -> Iterator[str]:
    """Yields the registers that an operand names."""
    if isinstance(operand, Reg):
        yield operand.name
    elif isinstance(operand, Address):
        if isinstance(operand.base, Reg):
            yield operand.base.name
    elif isinstance(operand, Vec):
        for item in operand.items:
            yield from registers_of(item)
    elif isinstance(operand, Pair):
        yield from registers_of(operand.first)
        yield from registers_of(operand.second)


def space_of(instruction: Instruction) -> str:
    """Returns the state space that an access names; empty for a generic address."""
    if instruction.facts.space:
        return instruction.facts.space
    named = (modifier.partition("::")[0] for modifier in instruction.modifiers)
    return next((name for name in named if name in (*_WRITABLE_SPACES, "const", "param")), "")


def spaces_stored_and_loaded(instruction: Instruction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns (the writable state spaces it may store to, those it may load from).

    A generic address may lie in any of them. An atomic does both.
    """
    memory = instruction.facts.memory
    if not memory or not _READ_ONLY.isdisjoint(instruction.modifiers):
        return (), ()
    space = space_of(instruction)
    spaces = (space,) if space else _WRITABLE_SPACES
    return (spaces if Memory.STORE in memory else ()), (spaces if Memory.LOAD in memory else ())


def defs_and_uses(instruction: Instruction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns (the registers it writes, the registers it reads).

    A guarded instruction also reads what it writes: lanes whose guard is false keep the old value.
    """
    operands = instruction.operands
    facts = instruction.facts
    split = 1 if facts.writes else 0
    written = tuple(name for operand in operands[:split] for name in registers_of(operand))
    read = tuple(name for operand in operands[split:] for name in registers_of(operand))
    if facts.accumulates:
        read = (*read, *written)
    if facts.reads_carry:
        read = (*read, CARRY)
    if "cc" in instruction.modifiers:
        written = (*written, CARRY)
    if instruction.guard is not None:
        read = (*read, instruction.guard.reg, *written)
    return written, read
