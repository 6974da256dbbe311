"""A check of an accepted submission speaks of the cases that ran on the emulator."""

from __future__ import annotations

import json

import pytest

from judge.judgement import CaseJudgement, MemoryFault, RacingAccess
from judge.judgement_json import read_recheck, to_json
from judge.recheck import Recheck, RecheckOutcome, conclude, findings_in_words, unchecked
from judge.verdict import Verdict

AC, WA, RE, TLE = (
    Verdict.ACCEPTED,
    Verdict.WRONG_ANSWER,
    Verdict.RUNTIME_ERROR,
    Verdict.TIME_LIMIT_EXCEEDED,
)


def race(line: int, other: int, file: str = "kernel.cu") -> MemoryFault:
    party = RacingAccess(file, other, (1, 0, 0), (0, 0, 0), is_write=True)
    return MemoryFault("race on shared memory", "two threads", "k", file, line, (0, 0, 0), (0, 0, 0), party)


READ = MemoryFault("out-of-bounds read", "4 bytes behind in", "k", "kernel.cu", 12)


def case(name: str, verdict: Verdict = AC, message: str = "", *faults: MemoryFault) -> CaseJudgement:
    return CaseJudgement(name, "hidden", verdict, 0.1, message, memory_errors=faults)


def test_nothing_found_in_all_cases_is_clean() -> None:
    found = conclude([case("a"), case("b")], 2)
    assert (found.outcome, found.cases, found.of, found.findings) == (RecheckOutcome.CLEAN, 2, 2, ())


def test_findings_of_accepted_cases_are_told_once_with_their_lines() -> None:
    found = conclude([case("a", AC, "", race(39, 44)), case("b", AC, "", race(39, 44), READ)], 2)
    assert found.outcome is RecheckOutcome.FOUND
    what = "race on shared memory, lines 39 and 44; out-of-bounds read, line 12"
    assert found.headline == f"right by luck on this GPU: {what}"
    assert len(found.findings) == 2
    assert found.detail == ""


def test_findings_that_changed_no_answer_are_warnings() -> None:
    read = conclude([case("a", AC, "", READ)], 1)
    assert read.outcome is RecheckOutcome.WARNED
    assert read.headline == "right on the emulator as well, with a warning: out-of-bounds read, line 12"
    assert read.findings == (READ,)
    shared = race(27, 34)
    on_global = MemoryFault("race on global memory", "", line=27, file="kernel.cu", other=shared.other)
    assert conclude([case("a", AC, "", on_global)], 1).outcome is RecheckOutcome.WARNED
    assert conclude([case("a", WA, "in another order", on_global)], 9).outcome is RecheckOutcome.FOUND


def test_a_failed_case_is_told_with_what_was_found() -> None:
    write = MemoryFault("out-of-bounds write", "4 bytes", "k", "kernel.cu", 7)
    found = conclude([case("a"), case("b", RE, "out-of-bounds write at kernel.cu:7", write)], 9)
    assert found.outcome is RecheckOutcome.FOUND
    assert found.headline == "right by luck on this GPU: out-of-bounds write, line 7"
    assert found.detail == "case b: runtime error: out-of-bounds write at kernel.cu:7"


def test_a_wrong_answer_without_a_finding_counts_as_found_but_not_as_luck() -> None:
    found = conclude([case("a"), case("b", WA, "out[3] is 5, expected 4")], 9)
    assert found.outcome is RecheckOutcome.FOUND
    assert found.headline == "right on this GPU, a wrong answer on the emulator in case b"
    assert "expected" not in found.headline
    assert "out[3] is 5" in found.detail


@pytest.mark.parametrize(
    ("last", "headline"),
    [
        (case("b", RE, "not supported by the emulator: wgmma", READ), "the emulator does not support it"),
        (case("b", RE, "a fault of the emulator itself: oops"), "the emulator does not support it"),
        (case("b", TLE, "a kernel ran for longer than 4 s"), "the emulator could not run it to its end"),
        (case("b", RE, "cudaFuncSetAttribute failed"), "the emulator could not run it to its end"),
    ],
)
def test_what_may_be_the_emulators_own_limit_accuses_nobody(last: CaseJudgement, headline: str) -> None:
    found = conclude([case("a"), last], 9)
    assert (found.outcome, found.headline, found.cases) == (RecheckOutcome.UNCHECKED, headline, 1)
    assert last.message in found.detail


def test_a_race_in_an_earlier_case_counts_although_a_later_one_is_not_supported() -> None:
    found = conclude([case("a", AC, "", race(1, 2)), case("b", RE, "not supported by the emulator: wgmma")], 9)
    assert found.outcome is RecheckOutcome.FOUND


def test_a_check_that_took_too_long_says_how_far_it_came() -> None:
    found = conclude([case("a"), case("b")], 9)
    assert (found.outcome, found.cases) == (RecheckOutcome.UNCHECKED, 2)
    assert "2 of 9" in found.headline


def test_lines_of_headers_are_not_told_as_the_submissions() -> None:
    assert findings_in_words([race(70, 71, "block_reduce.cuh")]) == "race on shared memory"


def test_a_headline_names_few_kinds_and_lines() -> None:
    many = [race(line, line + 1) for line in range(10, 40, 2)]
    kinds = [MemoryFault(f"kind {number}", "", line=number, file="kernel.cu") for number in range(5)]
    assert findings_in_words(many) == "race on shared memory, lines 10, 11, 12, 13 and 26 more"
    assert findings_in_words(kinds).endswith("; and 2 more")


def test_a_text_of_the_submission_is_one_printable_line() -> None:
    assert unchecked("it does not compile", "one\n two\x1b[31m" + "x" * 900).detail.startswith("one two[31mxxx")
    assert len(unchecked("it does not compile", "x" * 900).detail) == 400


def test_it_is_read_as_it_was_written() -> None:
    found = conclude([case("a", AC, "", race(39, 44), READ)], 3)
    assert read_recheck(json.loads(json.dumps(to_json(found)))) == found
    assert isinstance(found, Recheck)
