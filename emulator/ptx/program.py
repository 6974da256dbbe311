"""A kernel ready to be compiled: calls inlined, memory laid out, basic blocks made.

``inline`` puts the functions that are called into the kernel, ``parameters`` what they are called with into registers,
and ``frames`` recursive ones on a stack.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from emulator.ptx.cfg import Cfg, build_cfg
from emulator.ptx.effects import CARRY
from emulator.ptx.errors import MALFORMED, PtxError
from emulator.ptx.frames import join, needs_stack
from emulator.ptx.inline import Piece, expand
from emulator.ptx.ir import Address, Function, Instruction, Label, Module, Special, Sym, Variable
from emulator.ptx.parameters import promote_call_parameters
from emulator.ptx.types import TYPES, ScalarType

#: Of each block, the system's own from compute capability 8.0 on (CUDA C++ Programming Guide, "Compute Capabilities").
RESERVED_SHARED_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Program:
    """``parameters``: name → (offset, size).

    ``local``/``shared``: name → offset; dynamic shared variables begin at ``shared_bytes``. The first
    ``reserved_shared_bytes`` are those that ``%reserved_smem_*`` tell of, in kernels that ask.
    """

    entry: Function
    registers: dict[str, ScalarType]
    parameters: dict[str, tuple[int, int]]
    parameter_bytes: int
    local: dict[str, int]
    local_bytes: int
    shared: dict[str, int]
    shared_bytes: int
    reserved_shared_bytes: int
    cfg: Cfg
    branch_tables: dict[str, tuple[str, ...]]
    body: tuple[Instruction | Label, ...]
    uses_stack: bool

    def restartable_at(self, instructions: frozenset[int]) -> Program:
        """With blocks cut so that each can be begun anew at these instructions (ids); see ``build_cfg``."""
        return replace(self, cfg=build_cfg(self.body, self.branch_tables, instructions))


def build_program(module: Module, name: str) -> Program:
    """Raises ``PtxError`` when there is no such entry, ``Unsupported`` for calls of what is not there."""
    function = module.functions.get(name)
    if function is None or not function.is_entry or not function.defined:
        raise PtxError(f"no kernel {name} in this module")
    try:
        return _build(module, function)
    except MALFORMED as error:
        raise PtxError(f"{name} makes no sense: {error}") from error


def _build(module: Module, function: Function) -> Program:
    flat, shared_functions = expand(module, function)
    for piece in (flat, *shared_functions.values()):
        promote_call_parameters(piece)
    uses_stack = needs_stack(flat, shared_functions)
    if uses_stack:
        flat = join(flat, shared_functions)
    body = _split_barrier_reductions(flat.body)
    registers = {**flat.registers, CARRY: TYPES["pred"]}
    parameters, parameter_bytes = _lay_out_parameters(function)
    local, local_bytes = _lay_out(v for v in flat.variables.values() if v.space in ("local", "param"))
    reserved = RESERVED_SHARED_BYTES if _asks_for_reserved(body) else 0
    shared, shared_bytes = _lay_out_shared(module, flat, body, reserved)
    cfg = build_cfg(body, flat.branch_tables)
    return Program(
        function,
        registers,
        parameters,
        parameter_bytes,
        local,
        local_bytes,
        shared,
        shared_bytes,
        reserved,
        cfg,
        flat.branch_tables,
        tuple(body),
        uses_stack,
    )


def _split_barrier_reductions(body: list[Instruction | Label]) -> list[Instruction | Label]:
    """``bar.red`` becomes an arrival with a predicate, which ends a block, and ``barget``, which fetches the result."""
    split: list[Instruction | Label] = []
    for item in body:
        if isinstance(item, Instruction) and item.opcode in ("bar", "barrier") and item.has("red"):
            target, *rest = item.operands
            split.append(replace(item, operands=tuple(rest)))
            kind = tuple(m for m in item.modifiers if m in ("and", "or", "popc"))
            split.append(Instruction("barget", kind, (target, rest[0]), item.guard, item.location))
        else:
            split.append(item)
    return split


def _align(offset: int, align: int) -> int:
    return -(-offset // align) * align


def _lay_out_parameters(entry: Function) -> tuple[dict[str, tuple[int, int]], int]:
    offsets: dict[str, tuple[int, int]] = {}
    end = 0
    for parameter in entry.parameters:
        end = _align(end, max(1, parameter.align))
        offsets[parameter.name] = (end, parameter.size)
        end += parameter.size
    return offsets, end


def _asks_for_reserved(body: list[Instruction | Label]) -> bool:
    return any(
        isinstance(operand, Special) and operand.name.startswith("%reserved_smem")
        for item in body
        if isinstance(item, Instruction)
        for operand in item.operands
    )


def _lay_out(variables: Iterable[Variable], end: int = 0) -> tuple[dict[str, int], int]:
    offsets: dict[str, int] = {}
    for variable in variables:
        end = _align(end, max(1, variable.align))
        offsets[variable.name] = end
        end += variable.size
    return offsets, _align(end, 16)


def _lay_out_shared(
    module: Module, flat: Piece, body: list[Instruction | Label], reserved: int
) -> tuple[dict[str, int], int]:
    """The function's own shared variables and the module's that it names; those of open size last, all at the same
    place."""
    named: dict[str, Variable] = {v.name: v for v in flat.variables.values() if v.space == "shared"}
    for item in body:
        if isinstance(item, Instruction):
            for operand in item.operands:
                symbol = operand.base if isinstance(operand, Address) else operand
                if isinstance(symbol, Sym):
                    variable = module.variables.get(symbol.name)
                    if variable is not None and variable.space == "shared":
                        named.setdefault(variable.name, variable)
    offsets, end = _lay_out((v for v in named.values() if v.size), reserved)
    align = max((v.align for v in named.values() if not v.size), default=16)
    end = _align(end, max(16, align))
    offsets.update({v.name: end for v in named.values() if not v.size})
    return offsets, end
