"""The judge names a likely cause where the evidence is there, and none where it is not."""

from __future__ import annotations

import pytest

from judge.judgement import MemoryFault, Mismatch
from judge.supervisor.likely_causes import in_order, kept_in_float, rounding, start_of_atomic, with_precision, wrapped


def _bytes(expected: tuple[int, ...], got: tuple[int, ...], largest: float = 1.0) -> Mismatch:
    places = tuple((i,) for i in range(len(expected)))
    return Mismatch("q", places, expected, got, len(expected), 100, largest, None)


@pytest.mark.parametrize(
    ("mismatch", "told"),
    [
        (_bytes((2, -4, 0, 8), (3, -5, 1, 9)), True),
        (_bytes((2, -4, 0, 8), (3, -3, 1, 9)), True),
        (_bytes((2, -4, 1, 8), (3, -5, 2, 9)), False),
        (_bytes((2, -4, 0, 8), (1, -5, 1, 9)), False),
        (_bytes((2, -4, 0, 8), (3, -5, 1, 9), 2.0), False),
        (_bytes((2, -4), (3, -5)), False),
    ],
    ids=["away from zero", "upward", "an odd one", "to both sides", "by two", "too few"],
)
def test_wrong_rounding_of_half_way_cases(mismatch: Mismatch, told: bool) -> None:
    assert bool(rounding(mismatch)) is told


@pytest.mark.parametrize(
    ("expected", "got", "bits"),
    [
        ((1_240_633,), (192_057,), 16),
        ((70_000, 300_000), (4_464, 37_856), 16),
        ((300, 700, 513), (44, 188, 1), 8),
        ((300,), (44,), None),
        ((300, 700, 513), (44, 188, 2), None),
        ((4_464,), (70_000,), None),
        ((65_536, 131_072), (0, 0), None),
        ((65_537.0,), (1.0,), None),
    ],
    ids=["one count", "two", "bytes", "one by chance", "not all", "too many", "not stored", "real numbers"],
)
def test_counts_that_wrapped_around(
    expected: tuple[int | float, ...], got: tuple[int | float, ...], bits: int | None
) -> None:
    told = wrapped(Mismatch("n", tuple((i,) for i in range(len(got))), expected, got, len(got), 100, 1.0, None))
    assert (f"of {bits} bits" in told) if bits else told == ""


def test_an_answer_that_a_pack_refused_without_numbers_has_no_start() -> None:
    refused = Mismatch("q", (), (), (), 4, 4, None, None, "no assignment of the points has these centers")
    assert start_of_atomic(refused, b"", "") == ""


def test_faults_are_told_by_block_and_thread() -> None:
    late = MemoryFault("out-of-bounds read", "late", "k", "kernel.cu", 3, (0, 0, 0), (1, 0, 0))
    early = MemoryFault("out-of-bounds read", "early", "k", "kernel.cu", 9, (5, 0, 0), (0, 0, 0))
    assert in_order([late, early]) == (early, late)


def test_only_imprecise_answers_get_causes_of_it() -> None:
    begins = "imprecise: largest error 3.4 times the allowed one; "
    assert with_precision(f"{begins}y[0] is 1", 3.4, ["a (line 2)"]) == f"{begins}a (line 2); y[0] is 1"
    assert with_precision("y[0] is 1", None, ["a (line 2)"]) == "y[0] is 1"


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (880_301_397, 880_300_993),
        (880_301_397, 880_300_992 // 2),
        (2049, 2048),
        ("nan", 880_300_992),
        (-880_301_397, 1 << 24),
    ],
    ids=["no float", "far away", "small", "no number", "other sign"],
)
def test_other_integers_were_no_floats(expected: int | str, got: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.supervisor.likely_causes.ptx_texts", lambda _: pytest.fail("it looked at code"))
    assert kept_in_float(Mismatch("sum", ((0,),), (expected,), (got,), 1, 1, None, None), b"", "") == ""
