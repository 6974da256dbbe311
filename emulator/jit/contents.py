"""What the basic blocks of a kernel consist of: instructions by class and operations by type, line by line.

With the tally of how often each block ran (abi.h) this gives what a launch executed. The classes and types are those
of ``emulator.profile``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from emulator.jit.critical_path import critical_path
from emulator.profile.counters import CLASSES, FLOP_TYPES
from emulator.ptx.effects import has_result, space_of
from emulator.ptx.ir import Address, Imm, Instruction, Reg
from emulator.ptx.program import Program

# Made from others: not instructions of the program's own, and not counted anywhere.
NOT_COUNTED = frozenset(("param", "barget"))

_SPECIAL = frozenset(("ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt", "sqrt", "div"))
_DIVISION = frozenset(("div", "sqrt", "rcp", "rsqrt"))
_CONTROL = frozenset(("bra", "brx", "ret", "exit", "trap", "brkpt", "call"))
_SYNC = frozenset(("bar", "barrier", "membar", "fence", "mbarrier", "nanosleep", "griddepcontrol"))
_WARP = frozenset(("shfl", "vote", "redux", "activemask", "movmatrix", "elect"))
_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "fma", "mad", "min", "max", "abs", "neg", "copysign", "testp", "set", "setp")
)
_INTEGER = frozenset(
    (
        *("add", "addc", "sub", "subc", "mul", "mul24", "mad", "madc", "mad24", "sad", "div", "rem", "abs", "neg"),
        *("min", "max", "popc", "clz", "bfind", "fns", "brev", "bfe", "bfi", "szext", "bmsk", "dp4a", "dp2a"),
        *("set", "setp", "selp", "slct", "and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr", "prmt"),
        *("isspacep", "testp", "vabsdiff2", "vabsdiff4"),
    )
)
#: They have the rate of special functions, and their unit.
_SLOW_INTEGER = frozenset(("popc", "clz", "bfind", "brev"))
_FLOPS = {"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2, **dict.fromkeys(_SPECIAL, 1)}
_FLOAT_CLASS = {"f32": "fp32", "f64": "fp64", "f16": "fp16", "f16x2": "fp16", "bf16": "fp16", "bf16x2": "fp16"}
_FLOAT_TYPE = {"f32": "fp32", "f64": "fp64", "f16": "fp16", "f16x2": "fp16", "bf16": "bf16", "bf16x2": "bf16"}
_TENSOR_TYPE = {
    **{name: f"tensor_{name}" for name in ("f16", "bf16", "tf32", "f64", "b1")},
    **{"s8": "tensor_int8", "u8": "tensor_int8", "s4": "tensor_int4", "u4": "tensor_int4"},
}
_NOT_ARITHMETIC = frozenset(("load", "store", "atomic", "shared", "sync"))
#: How long results take, by that of plain arithmetic, where it is longer. Divisions and their like consist of what
#: emulator/model/machine.py says, one after the other.
_STEPS = {
    **{"control": 2, "fp64": 2, "convert": 3, "special": 5, "warp": 6, "tensor": 8, "match": 8},
    **{"int_division": 28, "long_division": 85, "fp32_division": 18, "fp64_division": 30, "long_product": 4},
}
#: Of a load from shared memory, or from constant memory at an address that is computed.
_NEAR_LOAD = 5
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")


class Content(NamedTuple):
    """Of one block, what is of one source line. ``flops`` of matrix types are a warp's, others a lane's."""

    block: int
    file: str
    line: int
    instructions: tuple[int, ...]  # as CLASSES
    flops: tuple[int, ...]  # as FLOP_TYPES
    dependent_steps: int  # of the block's critical path
    dependent_loads: int  # of its longest chain of loads


def contents(program: Program) -> tuple[Content, ...]:
    return tuple(_contents(program))


def _contents(program: Program) -> Iterator[Content]:
    for block in program.cfg.blocks:
        steps = _on_longest_chain(block.instructions, _steps)
        loads = _on_longest_chain(block.instructions, _is_awaited_access)
        lines: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
        for instruction in block.instructions:
            if instruction.opcode in NOT_COUNTED:
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
            yield Content(
                block.index, file, line, tuple(instructions), tuple(flops), steps[file, line], loads[file, line]
            )


def _on_longest_chain(
    instructions: Sequence[Instruction], length: Callable[[Instruction], int]
) -> Counter[tuple[str, int]]:
    """By source line, how much of the longest chain is there, each instruction being so long."""
    steps = [0 if i.opcode in NOT_COUNTED else length(i) for i in instructions]
    found: Counter[tuple[str, int]] = Counter()
    for index in critical_path(instructions, steps):
        where = instructions[index].location
        found[where.file, where.line] += steps[index]
    return found


def _steps(i: Instruction) -> int:
    kind = class_of(i)
    if i.opcode in ("ld", "ldmatrix") and (kind == "shared" or _is_indexed_constant(i)):
        return _NEAR_LOAD
    return 0 if kind in _NOT_ARITHMETIC else _STEPS.get(kind, 1)


def _is_awaited_access(i: Instruction) -> bool:
    """Whether its result comes from global or local memory."""
    return has_result(i) and class_of(i) in ("load", "local", "atomic") and space_of(i) not in ("shared", "const")


def _is_indexed_constant(i: Instruction) -> bool:
    address = i.operands[1]
    return space_of(i) == "const" and isinstance(address, Address) and isinstance(address.base, Reg)


def class_of(instruction: Instruction) -> str:
    """One of ``CLASSES``. Accesses through generic addresses count as global ones."""
    opcode = instruction.opcode
    if opcode in ("ld", "ldu", "st", "wmma", "cp", "ldmatrix", "stmatrix"):
        return _access_class(instruction)
    if opcode in ("atom", "red"):
        return "atomic"
    if opcode == "mma":
        return "tensor"
    if opcode in _CONTROL or opcode.startswith("call_"):
        return "control"
    if opcode in _SYNC:
        return "sync"
    if opcode in _WARP:
        return "warp"
    if opcode == "match":
        return "match"
    if opcode == "cvt":
        return "convert"
    return _arithmetic_class(instruction)


def _access_class(instruction: Instruction) -> str:
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if opcode == "wmma" and modifiers[0] == "mma":
        return "tensor"
    if opcode == "cp":  # a copy to shared memory is a load; the rest waits
        is_wait = not instruction.operands or "commit_group" in modifiers or "wait_group" in modifiers
        return "sync" if is_wait else "load"
    space = space_of(instruction)
    if space in ("shared", "local"):
        return space
    if space == "param":  # constant memory, which instructions read as an operand
        return "other"
    return "store" if opcode == "st" or modifiers[0] == "store" else "load"


def _arithmetic_class(instruction: Instruction) -> str:
    opcode = instruction.opcode
    types = instruction.types
    # Comparisons end with what they compare; conversions have gone before.
    scalar = types[-1] if types else None
    if scalar is not None and scalar.name in _FLOAT_CLASS and opcode not in ("selp", "slct", "mov"):
        if opcode in _DIVISION and _is_precise(instruction, scalar.name):
            return f"{scalar.name.replace('f', 'fp')}_division"
        if opcode in _SPECIAL:
            return "special"
        if opcode in _ARITHMETIC:
            return _FLOAT_CLASS[scalar.name]
    if opcode in ("div", "rem") and scalar is not None and not isinstance(instruction.operands[2], Imm):
        return "long_division" if scalar.bits == 64 else "int_division"
    if opcode in ("mul", "mad") and scalar is not None and scalar.bits == 64 and "wide" not in instruction.modifiers:
        return "long_product"
    if opcode in _SLOW_INTEGER:
        return "special"
    return "int" if opcode in _INTEGER else "other"


def _is_precise(instruction: Instruction, type_: str) -> bool:
    """Whether it takes several machine instructions; of doubles only the reciprocal has one of its own."""
    if type_ == "f64":
        return not (instruction.opcode == "rcp" and "approx" in instruction.modifiers)
    return type_ == "f32" and "approx" not in instruction.modifiers and "full" not in instruction.modifiers


def flops_of(instruction: Instruction) -> tuple[str, int] | None:
    """(type, operations of a lane, or of the warp for matrix instructions)."""
    opcode = instruction.opcode
    if opcode == "mma" or (opcode == "wmma" and instruction.modifiers[0] == "mma"):
        return _tensor_flops(instruction)
    if opcode not in _FLOPS or not instruction.types:
        return None
    scalar = instruction.types[-1]
    if scalar.name not in _FLOAT_TYPE:
        return None
    return _FLOAT_TYPE[scalar.name], _FLOPS[opcode] * scalar.lanes


def _tensor_flops(instruction: Instruction) -> tuple[str, int] | None:
    shape = next((found for m in instruction.modifiers if (found := _SHAPE.match(m))), None)
    # d, a, b, c; or, of wmma with f16, d and c alone.
    types = [m for m in instruction.modifiers if m in _TENSOR_TYPE or m in ("f32", "s32")]
    operand = types[1] if len(types) == 4 else "f16"
    if shape is None or operand not in _TENSOR_TYPE:
        return None
    m, n, k = map(int, shape.groups())
    return _TENSOR_TYPE[operand], 2 * m * n * k
