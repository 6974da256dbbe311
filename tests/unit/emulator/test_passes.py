"""Golden tests of the passes from PTX to what is emitted: one listing for each case of each pass.

A case is a file ``passes/PASS/NAME.ptx``: PTX, the line ``// becomes``, and the listing. A case that is no module is
the body of a kernel. ``GPUJUDGE_TEST_GOLDEN=1`` writes the listings anew: read the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from emulator.jit.access_groups import access_groups_of
from emulator.jit.critical_path import critical_path
from emulator.jit.guesses import guesses_of
from emulator.jit.idempotent import constant_stores
from emulator.jit.instruction_mix import instruction_mix
from emulator.jit.origins import followed_registers
from emulator.jit.polling import polling_of
from emulator.jit.predication import predicated_block
from emulator.jit.register_file import lay_out_registers
from emulator.jit.segments import cut_blocks
from emulator.jit.shapes import Shape, analyse_shapes
from emulator.profile.counters import CLASSES, FLOP_TYPES
from emulator.ptx.cfg import Cfg, build_cfg
from emulator.ptx.effects import defs_and_uses, spaces_stored_and_loaded
from emulator.ptx.frames import lower_stack
from emulator.ptx.inline import Piece, inline_calls
from emulator.ptx.ir import (
    Address,
    Function,
    Imm,
    Instruction,
    Label,
    Module,
    Operand,
    Pair,
    Reg,
    Sink,
    Special,
    Sym,
    Vec,
)
from emulator.ptx.link import link
from emulator.ptx.parameters import promote_call_parameters
from emulator.ptx.parser import parse_body
from emulator.ptx.program import Program, build_program, split_barrier_reductions
from emulator.ptx.provenance import accessed_variable, shared_variables

CASES = Path(__file__).with_name("passes")
MARKER = "\n// becomes\n"
HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"
BODY = (
    ".shared .align 4 .b8 a[64];\n.shared .align 4 .b8 b[64];\n"
    ".visible .entry k(.param .u64 p, .param .u32 n) {{\n"
    ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .f32 %f<20>;\n.reg .b64 %rd<20>;\n{}\n}}\n"
)
BLOCK = (64, 1, 1)


# ------------------------------------------------------------------------------------------------------------ printing
def _operand(operand: Operand) -> str:
    match operand:
        case Reg(name, negated):
            return f"!{name}" if negated else name
        case Imm(value, float_bits):
            return f"0f{value:x}" if float_bits else str(value)
        case Special(name):
            return name
        case Sym(name, offset):
            return f"{name}+{offset}" if offset else name
        case Address(base, offset):
            return f"[{_operand(base)}+{offset}]" if offset else f"[{_operand(base)}]"
        case Vec(items):
            return "{" + ", ".join(map(_operand, items)) + "}"
        case Pair(first, second):
            return f"{_operand(first)}|{_operand(second)}"
        case Sink():
            return "_"


def _text(item: Instruction | Label) -> str:
    if isinstance(item, Label):
        return f"{item.name}:"
    guard = "" if item.guard is None else f"@{'!' * item.guard.negated}{item.guard.reg} "
    return f"    {guard}{item.name} {', '.join(map(_operand, item.operands))}".rstrip()


def _body(items: Iterable[Instruction | Label]) -> list[str]:
    return [_text(item) for item in items]


def _piece(piece: Piece, title: str) -> Iterator[str]:
    yield title
    yield from (f"  variable {v.name}: {v.space}, {v.size} bytes" for v in piece.variables.values())
    yield from (f"  {table}: {', '.join(labels)}" for table, labels in piece.branch_tables.items())
    yield from _body(piece.body)


def _registers(names: Iterable[str]) -> str:
    return " ".join(sorted(names)) or "none"


def _blocks(cfg: Cfg) -> Iterator[str]:
    for block in cfg.blocks:
        marks = ["loop"] * (block.index in cfg.loop_heads) + ["join"] * (block.index in cfg.joins)
        to = ", ".join(map(str, block.successors)) or "nowhere"
        yield f"block {block.index}{''.join(f' ({mark})' for mark in marks)} to {to}; live: {_registers(block.live_in)}"
        yield from _body(block.instructions)


def _shape(shape: Shape | None) -> str:
    if shape is None:
        return "differs"
    if shape.is_uniform:
        return f"uniform, {shape.align} low bits are 0" if shape.align else "uniform"
    steps = {b - a for a, b in zip(shape.offsets, shape.offsets[1:], strict=False)}
    if len(steps) == 1:
        return f"base + {steps.pop()} * lane"
    return f"base + {list(shape.offsets)}"


# -------------------------------------------------------------------------------------------------------------- passes
def _pieces(module: Module, kernel: Function) -> tuple[Piece, dict[str, Piece]]:
    return inline_calls(module, kernel)


def _inline(module: Module, kernel: Function) -> Iterator[str]:
    piece, recursive = _pieces(module, kernel)
    yield from _piece(piece, "kernel")
    for name, each in recursive.items():
        yield from _piece(each, f"recursive {name}({', '.join(v.name for v in each.formals)})")


def _parameters(module: Module, kernel: Function) -> Iterator[str]:
    piece, recursive = _pieces(module, kernel)
    promote_call_parameters((piece, *recursive.values()))
    yield from _piece(piece, "kernel")


def _frames(module: Module, kernel: Function) -> Iterator[str]:
    piece, recursive = _pieces(module, kernel)
    promote_call_parameters((piece, *recursive.values()))
    yield from _piece(lower_stack(piece, recursive), "kernel")


def _barrier_reductions(_: Module, kernel: Function) -> Iterator[str]:
    yield from _body(split_barrier_reductions(kernel.body))


def _layout(module: Module, kernel: Function) -> Iterator[str]:
    layout = build_program(module, kernel.name).layout
    yield from (f"parameter {name}: {size} bytes at {at}" for name, (at, size) in layout.parameters.items())
    yield f"parameters: {layout.parameter_bytes} bytes"
    yield from (f"local {name}: at {at}" for name, at in layout.local.items())
    yield f"local: {layout.local_bytes} bytes"
    yield from (f"shared {name}: at {at}" for name, at in layout.shared.items())
    yield f"shared: {layout.shared_bytes} bytes, {layout.reserved_shared_bytes} of them reserved"


def _cfg(_: Module, kernel: Function) -> Iterator[str]:
    yield from _blocks(build_cfg(kernel.body, kernel.branch_tables))


def _effects(_: Module, kernel: Function) -> Iterator[str]:
    for instruction in kernel.instructions():
        written, read = defs_and_uses(instruction)
        stored, loaded = spaces_stored_and_loaded(instruction)
        memory = f"; stores to {' '.join(stored)}" * bool(stored) + f"; loads from {' '.join(loaded)}" * bool(loaded)
        yield f"{_text(instruction)}  // writes {_registers(written)}, reads {_registers(read)}{memory}"


def _provenance(module: Module, kernel: Function) -> Iterator[str]:
    instructions = list(kernel.instructions())
    variables = list(module.variables)
    origins = shared_variables(instructions, variables)
    for instruction in instructions:
        name = accessed_variable(instruction, origins, variables)
        yield _text(instruction) + (f"  // {name}" if name else "")


def _program(module: Module, kernel: Function) -> Program:
    return build_program(module, kernel.name)


def _access_groups(module: Module, kernel: Function) -> Iterator[str]:
    for block in _program(module, kernel).cfg.blocks:
        groups = access_groups_of(block)
        numbers: dict[int, int] = {}
        for instruction in block.instructions:
            group, here = groups.get(id(instruction), (None, 0))
            if group is None:
                yield _text(instruction)
                continue
            number = numbers.setdefault(id(group), len(numbers))
            yield f"{_text(instruction)}  // group {number}, {here} of {group.least} to {group.most}"


def _predication(module: Module, kernel: Function) -> Iterator[str]:
    program = _program(module, kernel)
    shapes = analyse_shapes(program, BLOCK)
    for block in program.cfg.blocks:
        last = block.instructions[-1] if block.instructions else None
        goal = None
        if last is not None and last.opcode == "bra":
            target = last.operands[0]
            assert isinstance(target, Sym)
            goal = program.cfg.labels[target.name]
        under = predicated_block(program.cfg, shapes, block, goal)
        yield f"block {block.index}" + (f": block {under.index} under a predicate" if under is not None else "")
        yield from _body(block.instructions)


def _segments(module: Module, kernel: Function) -> Iterator[str]:
    program = _program(module, kernel)
    for block, segments in zip(program.cfg.blocks, cut_blocks(program.cfg), strict=True):
        for segment in segments:
            meets = ", lanes meet" if segment.instructions and segment.meets else ""
            yield f"block {block.index}, segment {segment.number}{meets}; live: {_registers(segment.live_in)}"
            yield from _body(segment.instructions)


def _marked(kernel: Function, ids: frozenset[int], mark: str) -> Iterator[str]:
    for instruction in kernel.instructions():
        yield _text(instruction) + (f"  // {mark}" if id(instruction) in ids else "")


def _guesses(_: Module, kernel: Function) -> Iterator[str]:
    return _marked(kernel, guesses_of(kernel.instructions()), "a guess")


def _idempotent(_: Module, kernel: Function) -> Iterator[str]:
    return _marked(kernel, constant_stores(kernel.instructions()), "of a constant")


def _origins(module: Module, kernel: Function) -> Iterator[str]:
    yield from (f"follows {name}" for name in followed_registers(_program(module, kernel)))


def _shapes(module: Module, kernel: Function) -> Iterator[str]:
    program = _program(module, kernel)
    shapes = analyse_shapes(program, BLOCK)
    for block in program.cfg.blocks:
        for instruction in block.instructions:
            found = [f"{name}: {_shape(shapes.of(name))}" for name in defs_and_uses(instruction)[0]]
            found += ["widens"] * (id(instruction) in shapes.widened)
            yield _text(instruction) + (f"  // {'; '.join(found)}" if found else "")
    yield from (f"always {name} = {value}" for name, value in sorted(shapes.constants.items()))


def _register_file(module: Module, kernel: Function) -> Iterator[str]:
    program = _program(module, kernel)
    file = lay_out_registers(program, analyse_shapes(program, BLOCK))
    for kind, places in (("lanes", file.lanes), ("scalar", file.scalars), ("masked", file.masked)):
        yield from (f"{kind} {name}: at {at}" for name, at in sorted(places.items(), key=lambda each: each[1]))


def _polling(module: Module, kernel: Function) -> Iterator[str]:
    program = _program(module, kernel)
    file = lay_out_registers(program, analyse_shapes(program, BLOCK))
    polling = polling_of(program, file)
    places = {at: name for name, at in (*file.lanes.items(), *file.scalars.items())}
    for block in program.cfg.blocks:
        live = polling.live[block.index] if polling.live else ()
        kept = ", ".join(f"{size} bytes from {places.get(at, at)}" for at, size in live) or "nothing"
        head = " polls" if block.index in polling.heads else ""
        yield f"block {block.index}{head}; keeps {kept}"
        yield from _body(block.instructions)


def _critical_path(module: Module, kernel: Function) -> Iterator[str]:
    for block in _program(module, kernel).cfg.blocks:
        path = critical_path(block.instructions, [1] * len(block.instructions))
        for index, instruction in enumerate(block.instructions):
            yield _text(instruction) + ("  // on it" if index in path else "")


def _instruction_mix(module: Module, kernel: Function) -> Iterator[str]:
    for mix in instruction_mix(_program(module, kernel)):
        counts = [f"{n} {name}" for name, n in zip(CLASSES, mix.instructions, strict=True) if n]
        flops = [f"{n} flops of {name}" for name, n in zip(FLOP_TYPES, mix.flops, strict=True) if n]
        steps = f"{mix.dependent_steps} steps, {mix.dependent_loads} loads in a row"
        yield f"block {mix.block}, {mix.file}:{mix.line}: {', '.join([*counts, *flops, steps])}"


def _link(module: Module, _: Function) -> Iterator[str]:
    yield from (
        f"variable {v.name}: {'external' if v.external else f'{v.size} bytes'}" for v in module.variables.values()
    )
    for function in module.functions.values():
        kind, declared = "kernel" if function.is_entry else "function", "" if function.defined else ": declared"
        yield f"{kind} {function.name}{declared}"
        if function.defined:
            parse_body(module, function)
            yield from _body(function.body)


#: In the order in which they run.
PASSES: dict[str, Callable[[Module, Function], Iterable[str]]] = {
    "link": _link,
    "inline": _inline,
    "parameters": _parameters,
    "frames": _frames,
    "barrier_reductions": _barrier_reductions,
    "layout": _layout,
    "cfg": _cfg,
    "effects": _effects,
    "shapes": _shapes,
    "register_file": _register_file,
    "segments": _segments,
    "predication": _predication,
    "access_groups": _access_groups,
    "provenance": _provenance,
    "guesses": _guesses,
    "idempotent": _idempotent,
    "origins": _origins,
    "polling": _polling,
    "critical_path": _critical_path,
    "instruction_mix": _instruction_mix,
}


def _module(text: str) -> Module:
    if not text.lstrip().startswith(".version"):
        text = HEADER + BODY.format(text)
    return link([f".version{part}" for part in re.split(r"^\.version", text, flags=re.M)[1:]])


def _kernel(module: Module) -> Function:
    kernel = next(iter(module.entries.values()))
    parse_body(module, kernel)
    return kernel


@pytest.mark.parametrize("case", sorted(CASES.glob("*/*.ptx")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_pass_makes_what_its_listing_says(case: Path) -> None:
    text, _, listing = case.read_text().partition(MARKER)
    module = _module(text)
    made = "\n".join(PASSES[case.parent.name](module, _kernel(module))) + "\n"
    if os.environ.get("GPUJUDGE_TEST_GOLDEN"):
        case.write_text(f"{text.rstrip()}\n{MARKER}{made}")
    else:
        assert made == listing


def test_every_pass_has_a_case() -> None:
    assert {folder.name for folder in CASES.iterdir()} == set(PASSES)
