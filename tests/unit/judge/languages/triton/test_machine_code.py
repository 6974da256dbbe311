"""Errors of ptxas name lines of the submission."""

from __future__ import annotations

from judge.languages.triton.machine_code import errors_by_line

PTX = b"""\
.version 8.7
.visible .entry scale(.param .u64 x)
{
    .loc 1 8 12
    mov.u32 %r1, %tid.x;
    .loc 1 9 20
    max.f32.rz %f1, %f2, %f3;
    max.f32.rz %f4, %f5, %f6;
    .loc 2 41 9, function_name $L__info_string0, inlined_at 1 12 7
    min.f32.rz %f1, %f2, %f3;
    .loc 2 44 9
    abs.f32.rz %f1, %f2;
    ret;
}
    .file 1 "/tmp/kernel.py"
    .file 2 "/usr/lib/python3/triton/language/standard.py"
"""


def said(*lines: int) -> str:
    return "".join(f"ptxas 0.ptx, line {line}; error   : Illegal modifier\n" for line in lines) + (
        "ptxas fatal   : Ptx assembly aborted due to errors\n"
    )


def test_an_error_has_the_line_before_its_instruction() -> None:
    message = "error: ptxas does not take what Triton made of this line: Illegal modifier"
    assert errors_by_line(PTX, said(7, 8)) == [f"kernel.py:9: {message}"] * 2
    assert errors_by_line(PTX, said(10)) == [f"kernel.py:12: {message}"], "where a function of Triton's is called"


def test_an_error_that_is_from_no_line_is_left_to_the_whole_report() -> None:
    assert errors_by_line(PTX, said(2)) == []
    assert errors_by_line(PTX, said(12)) == []
    assert errors_by_line(PTX, "ptxas info    : 0 bytes gmem\n") == []
