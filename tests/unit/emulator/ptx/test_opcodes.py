"""The table of opcodes: complete, consistent, and the only way in."""

from __future__ import annotations

import pytest

from emulator.jit.ops import EMITTERS
from emulator.jit.ops.registry import emits
from emulator.profile.counters import CLASSES
from emulator.ptx import Unsupported, parse_module
from emulator.ptx.facts import Emission
from emulator.ptx.ir import Instruction
from emulator.ptx.opcodes import OPCODES, facts_of
from emulator.ptx.program import build_program


def _kernel(line: str) -> str:
    text = '.version 9.0\n.target sm_80\n.address_size 64\n.file 1 "kernel.cu"\n'
    return f"{text}.visible .entry k() {{\n.reg .b32 %r<3>;\n.loc 1 7 0\n{line}\nret;\n}}"


def test_every_opcode_with_an_emitter_has_facts_and_the_other_way_round() -> None:
    emitted = {facts.opcode for facts in OPCODES.values() if facts.emission is Emission.EMITTER}
    assert emitted == set(EMITTERS)


@pytest.mark.parametrize("line", ["twist.b32 %r1, %r2;", "wmma.twist.sync %r1, %r2;", "wmma %r1;"])
def test_an_opcode_without_facts_is_refused_by_name_and_line(line: str) -> None:
    name = line.split()[0].rstrip(";")
    with pytest.raises(Unsupported, match=name) as caught:
        build_program(parse_module(_kernel(line)), "k")
    assert (caught.value.file, caught.value.line) == ("kernel.cu", 7)


def test_an_emitter_of_an_opcode_without_facts_cannot_register() -> None:
    with pytest.raises(ValueError, match=r"twist .*opcodes\.py"):
        emits("twist")(lambda _e, _i: None)
    assert "twist" not in EMITTERS


def test_an_opcode_has_one_emitter() -> None:
    with pytest.raises(ValueError, match="add has two emitters"):
        emits("add")(lambda _e, _i: None)


def test_costs_name_classes_of_the_profile() -> None:
    pipes = {facts.cost.pipe for facts in OPCODES.values()}
    assert pipes - {"memory"} <= set(CLASSES)
    assert {facts.cost.float_pipe for facts in OPCODES.values()} == {"", "float", "special"}


def test_an_opcode_has_either_one_row_or_one_row_per_form() -> None:
    assert not {name for name in OPCODES if "." in name and name.partition(".")[0] in OPCODES}


def test_the_facts_of_a_form_depend_on_its_first_modifier() -> None:
    store = facts_of("wmma", ("store", "d"))
    assert store is not None
    assert not store.writes
    assert Instruction("wmma", ("load", "a"), ()).facts.writes
    assert facts_of("wmma", ()) is None
