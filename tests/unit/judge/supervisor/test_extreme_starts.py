"""The constants that a maximum starts from are found in PTX, and one is blamed where replacing it helps."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from emulator.wording import CUDA, TRITON
from judge.compile.source_files import ONE_FILE
from judge.supervisor.extreme_starts import blamed, replaced, shortest, trials

HEAD = """.version 8.0
.target sm_80
.file 1 "/tmp/kernel.cu"
.visible .entry k(.param .u64 p)
{
"""
#: The 0 of the sum (%f9) is that of a lane without an element (%f5), too.
ACCUMULATED = f"""{HEAD}\t.loc 1 4 1
\tmov.f32 \t%f1, 0f00000000;
\tmov.f32 \t%f9, 0f00000000;
$L1:
\t.loc 1 6 1
\tld.global.f32 \t%f2, [%rd1];
\tmax.f32 \t%f1, %f1, %f2;
\tst.shared.f32 \t[%r1], %f1;
\tmov.f32 \t%f5, %f9;
\t@%p1 bra \t$L2;
\tld.shared.f32 \t%f5, [%r1];
$L2:
\tmax.f32 \t%f6, %f5, %f5;
\tadd.f32 \t%f9, %f9, %f2;
\tst.shared.f32 \t[%r1], %f9;
}}
"""
COMPARED = f"""{HEAD}\t.loc 1 7 1
\tmov.f32 \t%f1, 0fBF800000;
\tsetp.gt.f32 \t%p1, %f2, %f1;
\tselp.f32 \t%f1, %f2, %f1, %p1;
}}
"""
#: ``if (x > largest) largest = x;``, with more behind the condition.
BRANCHED = f"""{HEAD}\t.loc 1 7 1
\tmov.f32 \t%f1, 0fC47A0000;
\tsetp.leu.f32 \t%p1, %f2, %f1;
\t@%p1 bra \t$L2;
\tmul.f32 \t%f3, %f3, %f4;
\tmov.f32 \t%f1, %f2;
$L2:
}}
"""
BOUNDED = f"""{HEAD}\t.loc 1 5 1
\tmin.s32 \t%r1, %r2, 8;
}}
"""
COUNTED = f"""{HEAD}\t.loc 1 5 1
\tmin.s32 \t%r1, %r2, 32;
\tadd.s32 \t%r3, %r1, -1;
\tsetp.lt.u32 \t%p1, %r3, 3;
}}
"""
MASKED = f"""{HEAD}\tmov.b32 \t%r2, 0;
\tmov.u32 %r1, %r2;
\t@%p1 ld.global.b32 {{ %r1 }}, [ %rd1 + 0 ];
\tmin.f32 \t%r3, %r1, %r4;
}}
"""


def first(text: str) -> list[str]:
    starts = next(iter(trials([text], ONE_FILE)))
    changed = replaced([text], starts)[0]
    return [row.strip() for row, was in zip(changed.split("\n"), text.split("\n"), strict=True) if row != was]


def test_starts_are_replaced_and_the_sum_keeps_its_zero() -> None:
    assert first(ACCUMULATED) == ["mov.f32 \t%f1, 0fFF800000;", "mov.f32 \t%f5, 0fFF800000;"]


def test_a_comparison_chooses_the_larger_one() -> None:
    assert first(COMPARED) == ["mov.f32 \t%f1, 0fFF800000;"]


def test_a_branch_has_the_comparison_negated() -> None:
    assert first(BRANCHED) == ["mov.f32 \t%f1, 0fFF800000;"]


def test_a_masked_load_brings_the_number_to_a_minimum() -> None:
    assert first(MASKED) == ["mov.u32 %r1, 0x7F800000;"]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}\tmax.f32 \t%f1, %f2, 0f00000000;\n}}\n".replace("max", "add"),
        f"{HEAD}\tmov.f32 \t%f1, 0fFF7FFFFF;\n\tmax.f32 \t%f1, %f1, %f2;\n}}\n",
        f"{HEAD}\tsetp.gt.f32 \t%p1, %f2, 0f00000000;\n}}\n",
        f"{HEAD}\tmov.u32 \t%r1, 0;\n\tsetp.lt.s32 \t%p1, %r1, %r2;\n\tadd.s32 \t%r1, %r1, 1;\n}}\n",
        COUNTED,
    ],
    ids=["no maximum", "the least number", "a threshold", "a loop's counter", "a loop's end"],
)
def test_nothing_is_tried_without_a_start(text: str) -> None:
    assert list(trials([text], ONE_FILE)) == []


def test_a_bound_is_told_as_one() -> None:
    told = "the minimum on line 5 lets no number above 8 through; without this bound, the answer is right"
    assert blamed([BOUNDED], ONE_FILE, lambda _: True, CUDA) == told


def test_who_is_blamed_makes_the_answer_right() -> None:
    def is_right(texts: Sequence[str]) -> bool:
        return "0fFF800000" in texts[0]

    told = "the maximum on line 6 starts at 0 or takes it in; with -INFINITY instead, the answer is right"
    assert blamed([COMPARED, ACCUMULATED], ONE_FILE, lambda texts: len(texts) == 2, CUDA).startswith("the maximum")
    assert blamed([ACCUMULATED], ONE_FILE, is_right, CUDA) == told
    assert blamed([MASKED], ONE_FILE, lambda _: True, TRITON).endswith('with float("inf") instead, the answer is right')
    assert blamed([ACCUMULATED], ONE_FILE, lambda _: False, CUDA) == ""


def test_the_kernels_that_fit_a_request_are_tried() -> None:
    assert shortest(["aaa", "b" * 90, "c"], 50) == ["c", "aaa"]
    assert shortest(["aaa", "b" * 90, "c"], 94) == ["c", "aaa", "b" * 90]
    assert shortest(["b" * 90], 50) == []
