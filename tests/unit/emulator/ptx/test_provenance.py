"""Of which shared variable an address is made."""

from __future__ import annotations

import pytest

from emulator.ptx import parse_module
from emulator.ptx.ir import Instruction
from emulator.ptx.parser import parse_body
from emulator.ptx.provenance import accessed_variable, shared_variables

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 a[64];\n.shared .align 4 .b8 b[64];\n"
REGISTERS = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n"
VARIABLES = ("a", "b")


def _instructions(text: str) -> list[Instruction]:
    module = parse_module(f"{HEADER}\n.visible .entry k(.param .u64 p) {{\n{REGISTERS}{text}\n}}")
    function = module.functions["k"]
    parse_body(module, function)
    return list(function.instructions())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("st.shared.u32 [a+60], %r1;", "a"),
        ("mov.u32 %r1, a; st.shared.u32 [%r1+4], %r2;", "a"),
        ("mov.u32 %r2, %tid.x; mov.u32 %r1, b; add.s32 %r3, %r2, %r1; st.shared.u32 [%r3], %r2;", "b"),
        ("mov.u32 %r2, %tid.x; mov.u32 %r1, b; mad.lo.s32 %r3, %r2, 4, %r1; st.shared.u32 [%r3], %r2;", "b"),
        ("mov.u32 %r1, a; sub.s32 %r1, %r1, 4; st.shared.u32 [%r1], %r2;", "a"),
        ("mov.u64 %rd1, a; cvt.u32.u64 %r1, %rd1; ld.shared.u32 %r2, [%r1];", "a"),
        ("ld.shared.u32 %r3, [b]; mov.u32 %r1, a; add.s32 %r1, %r1, %r3; st.shared.u32 [%r1], %r2;", "a"),
        # Two arrays, or a difference of addresses, or what memory says.
        ("@%p1 mov.u32 %r1, a; @!%p1 mov.u32 %r1, b; st.shared.u32 [%r1], %r2;", None),
        ("mov.u32 %r1, a; mov.u32 %r2, b; selp.b32 %r3, %r1, %r2, %p1; st.shared.u32 [%r3], %r2;", None),
        (
            "mov.u32 %r1, a; mov.u32 %r2, b; sub.s32 %r3, %r2, %r1; add.s32 %r4, %r1, %r3; st.shared.u32 [%r4], %r2;",
            None,
        ),
        ("mov.u32 %r1, a; ld.shared.u32 %r1, [b]; st.shared.u32 [%r1], %r2;", None),
        ("ld.shared.u32 %r1, [a]; st.shared.u32 [%r1], %r2;", None),
        ("mov.u32 %r1, a; xor.b32 %r3, %r1, 16; st.shared.u32 [%r3], %r2;", None),
    ],
)
def test_the_variable_of_the_last_access(text: str, name: str | None) -> None:
    instructions = _instructions(text)
    origins = shared_variables(instructions, VARIABLES)
    assert accessed_variable(instructions[-1], origins, VARIABLES) == name


def test_what_a_loop_adds_to_an_address_stays_of_its_variable() -> None:
    text = "mov.u32 %r1, a; $L: st.shared.u32 [%r1], %r2; add.s32 %r1, %r1, 4; @%p1 bra $L; ret;"
    instructions = _instructions(text)
    assert shared_variables(instructions, VARIABLES) == {"%r1": "a"}
