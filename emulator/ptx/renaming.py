"""Renames the operands of instructions: a copy of a function must not share registers with the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from emulator.ptx.ir import Address, Guard, Imm, Instruction, Operand, Pair, Reg, Sym, Vec


def renamed(instruction: Instruction, names: Mapping[str, str]) -> Instruction:
    """Returns the instruction with its registers and symbols under their new ``names``; others keep theirs."""

    def operand(o: Operand) -> Operand:
        if isinstance(o, Reg):
            return Reg(names.get(o.name, o.name), o.negated)
        if isinstance(o, Sym):
            return Sym(names.get(o.name, o.name), o.offset)
        if isinstance(o, Address):
            base = operand(o.base)
            assert isinstance(base, Reg | Sym | Imm)
            return Address(base, o.offset)
        if isinstance(o, Vec):
            return Vec(tuple(operand(x) for x in o.items))
        if isinstance(o, Pair):
            return Pair(operand(o.first), operand(o.second))
        return o

    guard = instruction.guard
    if guard is not None:
        guard = Guard(names.get(guard.reg, guard.reg), guard.negated)
    return replace(instruction, operands=tuple(operand(o) for o in instruction.operands), guard=guard)
