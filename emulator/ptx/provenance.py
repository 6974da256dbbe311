"""Finds out of which variable in shared memory the address in a register is made, where that is certain.

It is where every definition of the register takes the address of one variable, or adds something to an address that is
made of it. Registers that hold the addresses of two variables, differences of addresses and all else are left out: the
analysis takes no account of the order of instructions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from emulator.ptx.effects import defs_and_uses
from emulator.ptx.facts import Memory
from emulator.ptx.ir import Address, Instruction, Operand, Pair, Reg, Sym, Vec

#: What no address is made of, and what may be made of several.
_NOTHING, _UNKNOWN = "", "?"
_COPIES = frozenset(("mov", "cvta", "cvt"))
_ACCESSES = frozenset(("ld", "st", "atom", "red"))


def shared_variables(instructions: Iterable[Instruction], variables: Collection[str]) -> dict[str, str]:
    """Returns, by register, the name of the one of ``variables`` that the addresses in it are made of."""
    writers = [i for i in instructions if i.facts.writes or defs_and_uses(i)[0]]
    known: dict[str, str] = {}
    changed = True
    while changed:
        changed = False
        # A register only ever goes from unseen to one origin, and from there to the unknown: this ends.
        for instruction in writers:
            origin = _origin(instruction, known, variables)
            if origin is None:
                continue
            for name in defs_and_uses(instruction)[0]:
                before = known.get(name, origin)
                now = origin if before == origin else _UNKNOWN
                if known.get(name) != now:
                    known[name] = now
                    changed = True
    return {name: origin for name, origin in known.items() if origin not in (_NOTHING, _UNKNOWN)}


def accessed_variable(instruction: Instruction, origins: dict[str, str], variables: Collection[str]) -> str | None:
    """Returns the variable that the address of a plain access or an atomic is made of; None where it is not known."""
    if instruction.opcode not in _ACCESSES:
        return None
    for operand in instruction.operands:
        if isinstance(operand, Address):
            if isinstance(operand.base, Reg):
                return origins.get(operand.base.name)
            return operand.base.name if isinstance(operand.base, Sym) and operand.base.name in variables else None
    return None


def _origin(instruction: Instruction, known: dict[str, str], variables: Collection[str]) -> str | None:
    """Returns the origin of the result; None where an operand has not been seen yet."""
    if instruction.facts.memory is not Memory.NONE:
        return _NOTHING
    operands = instruction.operands[1:]
    found = [_of_operand(operand, known, variables) for operand in operands]
    if None in found:
        # An operand that nothing has defined yet: a later round sees it. Those that make no address go on.
        found = [_NOTHING if each is None else each for each in found]
        if not any(found):
            return None
    of = [each for each in found if each]
    if not of:
        return _NOTHING
    if len(of) > 1 or of[0] == _UNKNOWN:
        return _UNKNOWN
    if not isinstance(instruction.operands[0], Reg):
        return _UNKNOWN
    opcode, place = instruction.opcode, found.index(of[0])
    if opcode in _COPIES or opcode in ("add", "or") or (opcode == "sub" and place == 0):
        return of[0]
    return of[0] if opcode == "mad" and place == 2 else _UNKNOWN


def _of_operand(operand: Operand, known: dict[str, str], variables: Collection[str]) -> str | None:
    if isinstance(operand, Reg):
        return known.get(operand.name)
    if isinstance(operand, Sym):
        return operand.name if operand.name in variables else _NOTHING
    if isinstance(operand, Address):
        return _UNKNOWN
    return _UNKNOWN if isinstance(operand, Pair | Vec) else _NOTHING
