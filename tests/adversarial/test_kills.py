"""Runners that die by signals: a kill from outside costs a call made again, a submission's own stays its own fault."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from judge.errors import KilledFromOutside
from judge.settings import JudgeSettings, RunLimits
from judge.supervisor.case_runner import CaseRunner
from judge.verdict import Verdict
from tests.host_device.judging import HONEST, build, host_factory, judge_on_host, twice_pack
from tests.killer import Killer, runner_jails

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

_SETTINGS = JudgeSettings(data_dir=Path("/nonexistent"), run=RunLimits(memory_bytes=384 << 20, output_bytes=64 << 10))
_SLOW = "#include <unistd.h>\n" + HONEST.replace("{ for", "{ if (n == 1) usleep(700000); for")
_DEPTHS = ["bubblewrap", "the jail's first process", "the runner's parent", "the runner"]
_FATAL = {
    "raises SIGKILL": "raise(SIGKILL);",
    "kills itself": "kill(getpid(), SIGKILL);",
    "raises SIGTERM": "raise(SIGTERM);",
    "ends with the number of SIGKILL": "_exit(128 + SIGKILL);",
    "has a timer kill it": (
        "sigevent e{}; e.sigev_notify = SIGEV_SIGNAL; e.sigev_signo = SIGKILL; timer_t t; "
        "timer_create(CLOCK_MONOTONIC, &e, &t); itimerspec s{}; s.it_value.tv_nsec = 1000; "
        "timer_settime(t, 0, &s, nullptr); usleep(900000);"
    ),
}


@pytest.mark.parametrize("how", _FATAL)
def test_a_submission_that_kills_itself_is_a_runtime_error_in_bounded_time(how: str) -> None:
    headers = "#include <signal.h>\n#include <time.h>\n#include <unistd.h>\n"
    started_s = time.monotonic()
    cases = judge_on_host(headers + HONEST.replace("{ for", "{ " + _FATAL[how] + " for"), _SETTINGS)
    assert [case.verdict for case in cases] == [Verdict.RUNTIME_ERROR] * 2, cases
    assert time.monotonic() - started_s < 20


@pytest.mark.parametrize("depth", [0, 1, 2, 3], ids=_DEPTHS)
def test_a_runner_that_somebody_kills_once_costs_no_verdict(depth: int) -> None:
    with _killer(depth, times=1) as killer:
        cases = judge_on_host(_SLOW, _SETTINGS)
    assert [case.verdict for case in cases] == [Verdict.ACCEPTED] * 4, cases
    assert killer.killed == 1


def test_jails_that_are_killed_again_and_again_are_the_judges_failure() -> None:
    pack = twice_pack()
    case_runner = CaseRunner(host_factory(_SETTINGS, pack.cases), pack, build(_SLOW), seed=7)
    try:
        with _killer(0, times=10), pytest.raises(KilledFromOutside):
            list(case_runner.judge_cases(pack.cases))
    finally:
        case_runner.close()


def _killer(depth: int, times: int) -> Killer:
    """Kills a process of each jail, counted from the outermost, once its call is under way."""
    return Killer(lambda: [jail[depth] for jail in runner_jails()], times, delay_s=0.5)
