"""Small errors are called imprecise only where no case of the same judgement is wrong by more."""

from __future__ import annotations

import pytest

from judge.judgement import CaseJudgement, Mismatch
from judge.supervisor.case_report import with_larger_error_first
from judge.verdict import Verdict

BEGINS = "imprecise: largest error 2.1 times the allowed one; "
SAID = "y[0] is 1.5, expected 1.4; 3 of 8 elements differ"


def case(name: str, message: str = "", mismatch: Mismatch | None = None) -> CaseJudgement:
    verdict = Verdict.ACCEPTED if mismatch is None else Verdict.WRONG_ANSWER
    return CaseJudgement(name, "hidden", verdict, 0.0, message=message, mismatch=mismatch)


def wrong(said: str, imprecise: float | None) -> Mismatch:
    return Mismatch("y", ((0,),), (1.4,), (1.5,), 3, 8, 0.1, 0.1, said, imprecise=imprecise)


SMALL = case("small", f"{BEGINS}{SAID}; a note", wrong(BEGINS + SAID, 2.1))
CAUSED = case("caused", f"{BEGINS}sums are kept in half precision (line 3); {SAID}", wrong(BEGINS + SAID, 2.1))
LARGE = case("large", "y[0] is 9", wrong("y[0] is 9", None))
RIGHT = case("right")


def test_a_larger_error_is_told_first_and_explains_small_ones() -> None:
    judged, message = with_larger_error_first([RIGHT, SMALL, LARGE])
    assert message == LARGE.message
    assert [each.message for each in judged] == ["", f"{SAID}; a note", LARGE.message]
    assert judged[1].mismatch == wrong(SAID, None)


@pytest.mark.parametrize("judged", [[RIGHT, SMALL], [CAUSED, LARGE], [LARGE, SMALL], [RIGHT]])
def test_all_else_stays_as_it_is(judged: list[CaseJudgement]) -> None:
    first = next((each for each in judged if each is not RIGHT), RIGHT)
    assert with_larger_error_first(judged) == (judged, first.message)
