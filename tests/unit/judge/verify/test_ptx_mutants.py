from __future__ import annotations

import pytest

from judge.verify.ptx_mutants import ptx_mutants

HEAD = ".version 9.0\n.target sm_80\n.visible .entry k(\n.param .u64 k_param_0\n)\n{\n"


def mutants_of(*instructions: str) -> dict[str, str]:
    """The changed instruction of each mutant, by its name."""
    body = [".loc 1 7 5", *instructions, "ret;"]
    text = HEAD + "\n".join(body) + "\n}\n"
    original = text.splitlines()
    found = {}
    for mutant in ptx_mutants(text, "k.cu", 100):
        lines = mutant.text.splitlines()
        changed = [new for old, new in zip(original, lines, strict=True) if old != new]
        assert len(changed) == 1
        found[mutant.name] = changed[0]
    return found


@pytest.mark.parametrize(
    ("instruction", "name", "changed"),
    [
        ("setp.ge.s32 %p1, %r1, %r2;", "setp.ge.s32 to setp.gt.s32", "setp.gt.s32 %p1, %r1, %r2;"),
        ("bar.sync 0;", "bar.sync dropped", ""),
        ("@%p1 bra $L1;", "branch never taken", ""),
        ("add.f32 %f3, %f2, %f1;", "add.f32 to sub.f32", "sub.f32 %f3, %f2, %f1;"),
        ("sub.f32 %f3, %f2, %f1;", "operands of sub.f32 swapped", "sub.f32 %f3, %f1, %f2;"),
        ("mov.u32 %r1, 31;", "31 of mov.u32 to 32", "mov.u32 %r1, 32;"),
        ("mul.f32 %f1, %f2, 0f3F800000;", "0f3F800000 of mul.f32 to 0f3FC00000", "mul.f32 %f1, %f2, 0f3FC00000;"),
        ("ld.global.f32 %f1, [%rd8];", "ld.global.f32 one element further", "ld.global.f32 %f1, [%rd8+4];"),
        ("@%p2 st.shared.u8 [%r3+2], %rs1;", "st.shared.u8 one element further", "@%p2 st.shared.u8 [%r3+3], %rs1;"),
        ("selp.b32 %r1, %r2, %r3, %p1;", "choices of selp.b32 swapped", "selp.b32 %r1, %r3, %r2, %p1;"),
    ],
)
def test_mistakes(instruction: str, name: str, changed: str) -> None:
    assert mutants_of(instruction)[f"k.cu:7 {name}"] == changed


def test_an_atomic_made_plain() -> None:
    (changed,) = mutants_of("red.global.add.f32 [%rd1], %f1;").values()
    assert "red" not in changed
    assert changed.index("ld.global.f32") < changed.index("add.f32") < changed.index("st.global.f32 [%rd1]")


@pytest.mark.parametrize("instruction", ["bra.uni $L1;", "ld.param.u64 %rd1, [k_param_0];", "mov.u32 %r1, %tid.x;"])
def test_what_is_left_alone(instruction: str) -> None:
    assert mutants_of(instruction) == {}


def test_mutants_of_one_line_have_names_of_their_own_and_all_kinds_come_first() -> None:
    lines = ["add.f32 %f3, %f2, %f1;"] * 30 + ["bar.sync 0;"]
    assert len(mutants_of(*lines)) == 31
    text = HEAD + "\n".join(lines) + "\n}\n"
    few = ptx_mutants(text, "k.cu", 2)
    assert {mutant.kind for mutant in few} == {"operation", "barrier"}
    assert [mutant.name for mutant in ptx_mutants(text, "k.cu", 2)] == [mutant.name for mutant in few]
