"""The terminal's lines of a judgement."""

from __future__ import annotations

import dataclasses

import pytest

from cli.render import lines
from judge.judgement import CaseJudgement, MemoryFault
from judge.judgement_json import read_judgement
from judge.verdict import Verdict
from tests.stored_judgements import load_stored


def test_an_unranked_time_is_printed_like_a_score_and_called_unranked() -> None:
    ranked = read_judgement(load_stored("v3_modelled_time"))
    run = dataclasses.replace(ranked, measurement=None, unranked=ranked.measurement)
    scored, unranked = ([line.plain for line in lines(judgement)] for judgement in (ranked, run))
    assert any(line.startswith("  score   ") for line in scored)
    assert [line.replace("  score   ", "  unranked ") for line in scored] == unranked
    assert any(line.startswith("  lines   ") for line in unranked)


@pytest.mark.parametrize(
    "message",
    ["deadlock at kernel.cu:13", "deadlock at kernel.cu:13; the 6 cases after it were not judged"],
)
def test_what_the_message_of_a_case_says_is_not_listed_again(message: str) -> None:
    fault = MemoryFault("deadlock", "deadlock at kernel.cu:13", "dot", "kernel.cu", 13)
    other = MemoryFault("uninitialized read", "nothing wrote it", "dot", "kernel.cu", 9)
    case = CaseJudgement("a", "hidden", Verdict.TIME_LIMIT_EXCEEDED, 0.1, message, memory_errors=(fault, other))
    judgement = dataclasses.replace(
        read_judgement(load_stored("v3_modelled_time")),
        verdict=Verdict.TIME_LIMIT_EXCEEDED,
        cases=(case,),
        measurement=None,
    )
    text = "\n".join(line.plain for line in lines(judgement))
    assert text.count("deadlock at kernel.cu:13") == 1
    assert text.count("kernel.cu:9: nothing wrote it") == 1
