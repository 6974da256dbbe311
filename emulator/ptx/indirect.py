"""Calls through pointers, as choices among the functions whose address the module takes.

A function's address is a number of its own that lies in no memory: ``function_address``. A call through a register
becomes a chain of comparisons with direct calls (which are then inlined as any other); an address that is none of the
candidates traps, as a jump to nowhere does on a GPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from emulator.ptx.ir import Function, Guard, Imm, Instruction, Label, Module, Operand, Reg, Sym, Variable, Vec
from emulator.ptx.types import TYPES, ScalarType

# No host or device pointer begins like this; 16 apart, so that flags in low bits (pointers to members) survive.
_BASE = 0x7FEE_0000_0000_0000
_WORD = re.compile(r"[A-Za-z_$][\w$]*")


def function_address(module: Module, name: str) -> int | None:
    """Returns the number that stands for ``&name``; None when the module has no such device function."""
    function = module.functions.get(name)
    if function is None or function.is_entry:
        return None
    return _BASE + 16 * list(module.functions).index(name)


def with_function_addresses(module: Module, instruction: Instruction) -> Instruction:
    """Returns the instruction with the addresses of functions in place of their names."""
    if instruction.opcode != "mov":
        return instruction
    operands: list[Operand] = []
    for operand in instruction.operands:
        address = function_address(module, operand.name) if isinstance(operand, Sym) else None
        operands.append(operand if address is None else Imm(address))
    return replace(instruction, operands=tuple(operands))


def fitting(candidates: list[Function], call: Instruction, variables: dict[str, Variable]) -> list[Function]:
    """Returns the candidates whose results and parameters have the sizes of the call's."""
    results, _, arguments = call.operands
    assert isinstance(results, Vec)
    assert isinstance(arguments, Vec)
    wanted = (_sizes(results, variables), _sizes(arguments, variables))
    return [f for f in candidates if (tuple(v.size for v in f.returns), tuple(v.size for v in f.parameters)) == wanted]


def choices(
    module: Module,
    candidates: list[Function],
    call: Instruction,
    variables: dict[str, Variable],
    prefix: str,
    registers: dict[str, ScalarType],
) -> Iterator[Instruction | Label]:
    """Yields ``call``, whose target is a register, as comparisons and direct calls.

    Labels and registers begin with ``prefix``.
    """
    results, target, arguments = call.operands
    end = Sym(f"{prefix}end")
    if call.guard is not None:
        yield Instruction("bra", (), (end,), Guard(call.guard.reg, not call.guard.negated), call.location)
    for number, function in enumerate(fitting(candidates, call, variables)):
        address = function_address(module, function.name)
        assert address is not None
        differs, following = f"{prefix}differs{number}", f"{prefix}next{number}"
        registers[differs] = TYPES["pred"]
        yield Instruction("setp", ("ne", "u64"), (Reg(differs), target, Imm(address)), None, call.location)
        yield Instruction("bra", (), (Sym(following),), Guard(differs, False), call.location)
        yield replace(call, operands=(results, Sym(function.name), arguments), guard=None)
        yield Instruction("bra", (), (end,), None, call.location)
        yield Label(following)
    yield Instruction("trap", (), (), None, call.location)
    yield Label(end.name)


def _sizes(operands: Vec, variables: dict[str, Variable]) -> tuple[int, ...]:
    return tuple(variables[o.name].size for o in operands.items if isinstance(o, Sym) and o.name in variables)


def address_taken(module: Module) -> list[Function]:
    """Returns the defined device functions whose address a variable (tables, virtual functions) or a ``mov`` takes."""
    taken = {relocation.symbol for variable in module.variables.values() for relocation in variable.relocations}
    for function in module.functions.values():
        for instruction in function.instructions():
            if instruction.opcode == "mov":
                taken.update(o.name for o in instruction.operands if isinstance(o, Sym))
    for text in module.bodies.values():  # of the functions that nobody has read yet
        for statement in text.split(";"):
            if "mov." in statement:
                taken.update(_WORD.findall(statement))
    return [f for f in module.functions.values() if not f.is_entry and f.defined and f.name in taken]
