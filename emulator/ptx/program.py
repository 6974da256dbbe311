"""A kernel ready to be compiled: calls inlined, memory laid out, basic blocks made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from emulator.ptx.cfg import Cfg, build_cfg
from emulator.ptx.effects import CARRY
from emulator.ptx.errors import MALFORMED, PtxError
from emulator.ptx.frames import lower_stack, needs_stack
from emulator.ptx.inline import Piece, inline_calls
from emulator.ptx.ir import Function, Instruction, Label, Module, Sym
from emulator.ptx.layout import Layout, lay_out_memory
from emulator.ptx.parameters import promote_call_parameters
from emulator.ptx.types import TYPES, ScalarType
from records import dataclass


@dataclass(frozen=True, slots=True)
class Program:
    """One kernel with everything that it calls."""

    entry: Function
    registers: dict[str, ScalarType]
    layout: Layout
    cfg: Cfg
    branch_tables: dict[str, tuple[str, ...]]
    body: tuple[Instruction | Label, ...]
    uses_stack: bool

    def restartable_at(self, instructions: frozenset[int]) -> Program:
        """Returns it with blocks cut so that each can run again from its start at these instructions (ids).

        See ``build_cfg``.
        """
        return replace(self, cfg=build_cfg(self.body, self.branch_tables, instructions))

    def table_goals(self, branch: Instruction) -> tuple[int, ...]:
        """Returns the blocks that this ``brx.idx`` may branch to, in the order of its table."""
        table = branch.operands[1]
        assert isinstance(table, Sym)
        return tuple(self.cfg.labels[name] for name in self.branch_tables[table.name])


def build_program(module: Module, name: str) -> Program:
    """Returns the kernel ``name``.

    Raises ``PtxError`` when the module has no such kernel or the kernel is malformed, and ``Unsupported`` for unknown
    opcodes and for calls of functions that are not defined.
    """
    function = module.functions.get(name)
    if function is None or not function.is_entry or not function.defined:
        raise PtxError(f"no kernel {name} in this module")
    try:
        return _run_passes(module, function)
    except MALFORMED as error:
        raise PtxError(f"{name} makes no sense: {error}") from error


def _run_passes(module: Module, function: Function) -> Program:
    """Runs the passes from PTX to a program. ``emulator.jit.passes`` lists those that follow."""
    kernel, recursive = inline_calls(module, function)
    refuse_unknown_opcodes((kernel, *recursive.values()))
    promote_call_parameters((kernel, *recursive.values()))
    uses_stack = needs_stack(kernel, recursive)
    if uses_stack:
        kernel = lower_stack(kernel, recursive)
    body = split_barrier_reductions(kernel.body)
    layout = lay_out_memory(module, kernel, body)
    cfg = build_cfg(body, kernel.branch_tables)
    registers = {**kernel.registers, CARRY: TYPES["pred"]}
    return Program(function, registers, layout, cfg, kernel.branch_tables, tuple(body), uses_stack)


def refuse_unknown_opcodes(pieces: Iterable[Piece]) -> None:
    """Raises ``Unsupported`` for the first instruction whose opcode has no row in ``opcodes``."""
    for piece in pieces:
        for instruction in piece.instructions():
            _ = instruction.facts


def split_barrier_reductions(body: Sequence[Instruction | Label]) -> list[Instruction | Label]:
    """Splits each ``bar.red`` in two.

    The first is an arrival with a predicate, which ends a block; the second, ``barget``, reads the result.
    """
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
