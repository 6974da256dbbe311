"""Hostile host code against the real jail, runner and supervisor: its verdict, and that nothing of it stays behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.settings import JudgeSettings, RunLimits
from judge.verdict import Verdict
from tests.adversarial.sources import ALL, Hostile
from tests.host_device.judging import HONEST, judge_on_host

pytestmark = [
    pytest.mark.jail,
    pytest.mark.nvcc,
    pytest.mark.recorded("tests/adversarial", "tests/host_device", "judge/backends/cuda", "judge/bench/timing"),
]

_SETTINGS = JudgeSettings(data_dir=Path("/nonexistent"), run=RunLimits(memory_bytes=384 << 20, output_bytes=64 << 10))


def _open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(scope="module")
def first_judgement() -> None:
    """Opens the way to the processes that run packs' code, which a process opens once and keeps."""
    judge_on_host(HONEST, _SETTINGS)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("first_judgement")
@pytest.mark.parametrize("hostile", ALL, ids=lambda hostile: hostile.name)
def test_hostile(hostile: Hostile) -> None:
    before = _open_descriptors()
    # Time enough on a busy machine for everything but what never comes back.
    call_s = 0.7 if hostile.verdict is Verdict.TIME_LIMIT_EXCEEDED else 10.0
    cases = judge_on_host(hostile.source, _SETTINGS, call_s=call_s)
    verdicts = [case.verdict for case in cases if case.verdict is not Verdict.ACCEPTED] or [Verdict.ACCEPTED]
    assert verdicts[0] is hostile.verdict, cases
    assert any(hostile.words in case.message for case in cases), cases
    assert not any("secret" in case.message for case in cases)
    assert {case.group for case in cases if "secret" in case.output} <= {"sample"}
    assert _open_descriptors() == before


def test_the_next_submission_is_judged_as_if_nothing_had_been() -> None:
    judge_on_host(ALL[0].source, _SETTINGS, call_s=0.7)
    assert [case.verdict for case in judge_on_host(HONEST, _SETTINGS)] == [Verdict.ACCEPTED] * 4


def test_a_crash_costs_its_own_case_only() -> None:
    source = HONEST.replace("{ for", "{ if (n == 1) __builtin_trap(); for")
    assert [case.verdict.value for case in judge_on_host(source, _SETTINGS)] == ["AC", "RE", "AC", "AC"]


def test_after_two_deaths_the_rest_is_not_judged() -> None:
    source = HONEST.replace("{ for", "{ if (n != 5) __builtin_trap(); for")
    assert [case.verdict.value for case in judge_on_host(source, _SETTINGS)] == ["AC", "RE", "RE"]
