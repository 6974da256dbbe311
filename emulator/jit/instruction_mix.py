"""Counts the instructions of each basic block by class and its operations by type, line by line.

A profile multiplies these by how often each block ran (abi.h) to get what a launch executed. The classes and types are
those of ``emulator.profile``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from emulator.jit.artifact import LineMix
from emulator.jit.critical_path import critical_path
from emulator.profile.counters import CLASSES, FLOP_TYPES
from emulator.ptx.effects import has_result, space_of
from emulator.ptx.facts import Cost, Expansion, Memory
from emulator.ptx.ir import Address, Imm, Instruction, Reg
from emulator.ptx.program import Program
from emulator.ptx.types import TYPES, ScalarType

_NOT_ARITHMETIC = frozenset(("load", "store", "atomic", "shared", "sync"))
#: Latency by class, in units of that of plain arithmetic, where it is longer. That of divisions and roots is the sum
#: over the machine instructions in emulator/model/machine.py.
_STEPS = {
    **{"control": 2, "fp64": 2, "convert": 3, "special": 5, "warp": 6, "tensor": 8, "match": 8},
    **{"int_division": 28, "long_division": 85, "fp32_division": 18, "fp64_division": 30, "long_product": 4},
}
#: Latency of a load from shared memory, or from constant memory at a computed address, in the same unit.
_NEAR_LOAD = 5
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")


def instruction_mix(program: Program) -> tuple[LineMix, ...]:
    """Returns the instructions and operations of every basic block, line by line."""
    return tuple(_line_mixes(program))


def _line_mixes(program: Program) -> Iterator[LineMix]:
    for block in program.cfg.blocks:
        steps = _on_critical_path(block.instructions, _steps)
        loads = _on_critical_path(block.instructions, _is_awaited_access)
        lines: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
        for instruction in block.instructions:
            if not instruction.facts.is_counted:
                continue
            where = instruction.location
            instructions, flops = lines.setdefault(
                (where.file, where.line), ([0] * len(CLASSES), [0] * len(FLOP_TYPES))
            )
            instructions[CLASSES.index(class_of(instruction))] += 1
            counted = flops_of(instruction)
            if counted is not None:
                flops[FLOP_TYPES.index(counted[0])] += counted[1]
        for (file, line), (instructions, flops) in lines.items():
            yield LineMix(
                block.index, file, line, tuple(instructions), tuple(flops), steps[file, line], loads[file, line]
            )


def _on_critical_path(
    instructions: Sequence[Instruction], length: Callable[[Instruction], int]
) -> Counter[tuple[str, int]]:
    """Returns how much of the critical path each source line has, given the length of each instruction."""
    steps = [length(i) if i.facts.is_counted else 0 for i in instructions]
    found: Counter[tuple[str, int]] = Counter()
    for index in critical_path(instructions, steps):
        where = instructions[index].location
        found[where.file, where.line] += steps[index]
    return found


def _steps(i: Instruction) -> int:
    kind = class_of(i)
    if i.facts.is_awaited_in_shared and (kind == "shared" or _is_indexed_constant(i)):
        return _NEAR_LOAD
    return 0 if kind in _NOT_ARITHMETIC else _STEPS.get(kind, 1)


def _is_awaited_access(i: Instruction) -> bool:
    """Returns whether its result comes from global or local memory."""
    return has_result(i) and class_of(i) in ("load", "local", "atomic") and space_of(i) not in ("shared", "const")


def _is_indexed_constant(i: Instruction) -> bool:
    address = i.operands[1]
    return space_of(i) == "const" and isinstance(address, Address) and isinstance(address.base, Reg)


def class_of(instruction: Instruction) -> str:
    """Returns one of ``CLASSES``. Accesses through generic addresses count as global ones."""
    cost = instruction.facts.cost
    if cost.pipe == "memory":
        return _access_class(instruction)
    # Comparisons end with what they compare, conversions with their source.
    scalar = instruction.types[-1] if instruction.types else None
    if scalar is None:
        return cost.pipe
    if cost.float_pipe and scalar.pipe:
        return _float_class(instruction, cost, scalar)
    if cost.expansion is Expansion.DIVISION and not isinstance(instruction.operands[2], Imm):
        return "long_division" if scalar.bits == 64 else "int_division"
    if cost.expansion is Expansion.PRODUCT and scalar.bits == 64 and "wide" not in instruction.modifiers:
        return "long_product"
    return cost.pipe


def _float_class(instruction: Instruction, cost: Cost, scalar: ScalarType) -> str:
    is_division = cost.expansion in (Expansion.DIVISION, Expansion.ROOT)
    if is_division and _is_precise(instruction, scalar.name):
        return f"{scalar.pipe}_division"
    return "special" if cost.float_pipe == "special" else scalar.pipe


def _access_class(instruction: Instruction) -> str:
    modifiers = instruction.modifiers
    if instruction.opcode == "cp":  # a copy to shared memory is a load; the rest waits
        is_wait = not instruction.operands or "commit_group" in modifiers or "wait_group" in modifiers
        return "sync" if is_wait else "load"
    space = space_of(instruction)
    if space in ("shared", "local"):
        return space
    if space == "param":  # constant memory, which instructions read as an operand
        return "other"
    return "store" if instruction.facts.memory is Memory.STORE else "load"


def _is_precise(instruction: Instruction, type_: str) -> bool:
    """Returns whether it takes several machine instructions; of doubles only the approximate reciprocal takes one."""
    if type_ == "f64":
        return not (instruction.opcode == "rcp" and "approx" in instruction.modifiers)
    return type_ == "f32" and "approx" not in instruction.modifiers and "full" not in instruction.modifiers


def flops_of(instruction: Instruction) -> tuple[str, int] | None:
    """Returns (type, operations of a lane, or of the warp for matrix instructions)."""
    cost = instruction.facts.cost
    if cost.pipe == "tensor":
        return _tensor_flops(instruction)
    if not cost.flops or not instruction.types:
        return None
    scalar = instruction.types[-1]
    if not scalar.flop_type:
        return None
    return scalar.flop_type, cost.flops * scalar.lanes


def _tensor_flops(instruction: Instruction) -> tuple[str, int] | None:
    shape = next((found for m in instruction.modifiers if (found := _SHAPE.match(m))), None)
    if instruction.opcode == "wgmma":  # each warp makes a quarter
        operand = next((scalar for scalar in instruction.types[1:] if scalar.tensor_type), None)
        if shape is None or operand is None:
            return None
        m, n, k = map(int, shape.groups())
        return operand.tensor_type, 2 * m * n * k // 4
    # d, a, b, c; or, of wmma with f16, d and c alone.
    types = [scalar for scalar in instruction.types if scalar.fragment_code is not None or scalar.tensor_type]
    operand = types[1] if len(types) == 4 else TYPES["f16"]
    if shape is None or not operand.tensor_type:
        return None
    m, n, k = map(int, shape.groups())
    return operand.tensor_type, 2 * m * n * k
