"""Runners that die by signals: a kill from outside costs a call made again, a submission's own stays its own fault."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from cli.supervise import descendants
from judge.errors import KilledFromOutside
from judge.settings import JudgeSettings, RunLimits
from judge.supervisor.case_runner import CaseRunner
from judge.verdict import Verdict
from tests.host_device.judging import HONEST, build, host_factory, judge_on_host, twice_pack

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

_SETTINGS = JudgeSettings(data_dir=Path("/nonexistent"), run=RunLimits(memory_bytes=384 << 20, output_bytes=64 << 10))
_SLOW = "#include <unistd.h>\n" + HONEST.replace("{ for", "{ if (n == 1) usleep(700000); for")
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


@pytest.mark.parametrize("victim", ["bubblewrap", "the jail's first process", "the runner"])
def test_a_runner_that_somebody_kills_once_costs_no_verdict(victim: str) -> None:
    with _Killer(victim, times=1) as killer:
        cases = judge_on_host(_SLOW, _SETTINGS)
    assert [case.verdict for case in cases] == [Verdict.ACCEPTED] * 4, cases
    assert killer.killed == 1


def test_jails_that_are_killed_again_and_again_are_the_judges_failure() -> None:
    pack = twice_pack()
    case_runner = CaseRunner(host_factory(_SETTINGS, pack.cases), pack, build(_SLOW), seed=7)
    try:
        with _Killer("bubblewrap", times=10), pytest.raises(KilledFromOutside):
            list(case_runner.judge_cases(pack.cases))
    finally:
        case_runner.close()


class _Killer:
    """Sends SIGKILL to processes of this one's jails, 0.3 s after each has started: ``times`` of them at most."""

    def __init__(self, victim: str, times: int) -> None:
        self._depth = ["bubblewrap", "the jail's first process", "the runner"].index(victim)
        self._times = times
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._kill, daemon=True)
        self.killed = 0

    def __enter__(self) -> _Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _kill(self) -> None:
        done: set[int] = set()
        while self.killed < self._times and not self._over.wait(0.02):
            for root in _children(os.getpid()):
                chain = [root, *descendants(root)]
                # Where the innermost is the runner itself, the jail is up and a call is under way soon.
                if root in done or len(chain) < 3 or b"judge.runner.main" not in _command_line(chain[2]):
                    continue
                time.sleep(0.5)
                os.kill(chain[self._depth], signal.SIGKILL)
                done.add(root)
                self.killed += 1


def _children(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
