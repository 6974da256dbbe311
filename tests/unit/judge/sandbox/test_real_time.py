from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from judge.sandbox import real_time
from judge.sandbox.enter_plan import _rlimits
from judge.sandbox.policy import build_policy, run_policy
from judge.sandbox.threads import threads_of
from judge.settings import BuildLimits, RunLimits

_ORDINARY = os.SCHED_OTHER
_ANY = max(os.sched_getaffinity(0))


def _is_permitted() -> bool:
    with real_time.real_time_thread(away_from={_ANY}) as permitted:
        return permitted


permitted = pytest.mark.skipif(not _is_permitted(), reason="real-time scheduling is not permitted here")


@permitted
def test_the_thread_goes_first_and_nothing_that_it_starts() -> None:
    processors = os.sched_getaffinity(0)
    with real_time.real_time_thread(away_from={_ANY}) as is_first:
        assert is_first
        assert os.sched_getscheduler(0) == os.SCHED_RR | os.SCHED_RESET_ON_FORK
        assert os.sched_getaffinity(0) == processors - {_ANY} or len(processors) == 1
        started: list[int] = []
        thread = threading.Thread(target=lambda: started.append(os.sched_getscheduler(0)))
        thread.start()
        thread.join()
        process = subprocess.run(
            [sys.executable, "-S", "-c", "import os; print(os.sched_getscheduler(0))"],
            check=True,
            capture_output=True,
            text=True,
        )
        assert [*started, int(process.stdout)] == [_ORDINARY] * 2
    assert os.sched_getscheduler(0) == _ORDINARY
    assert os.sched_getaffinity(0) == processors


_TREE = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(30)"])
print("ready", flush=True)
sys.stdin.readline()
subprocess.run([sys.executable, "-S", "-c", "import os; print(os.sched_getscheduler(0))"])
child.kill()
"""


@permitted
def test_a_process_goes_first_with_its_descendants_and_what_they_start_later() -> None:
    process = subprocess.Popen(
        [sys.executable, "-S", "-u", "-c", _TREE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        threads = [int(thread.name) for thread in threads_of(process.pid)]
        assert len(threads) == 2
        assert real_time.schedule_in_real_time(process.pid)
        assert [os.sched_getscheduler(thread) for thread in threads] == [os.SCHED_RR] * 2
        said, _ = process.communicate("go on\n", timeout=20)
        assert int(said) == os.SCHED_RR
    finally:
        process.kill()
        process.wait()


@permitted
def test_no_other_work_takes_its_processor() -> None:
    (processor, *_) = os.sched_getaffinity(0)
    spin = "import os, sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: pass"
    at_one = ["taskset", "-c", str(processor), sys.executable, "-S", "-c", spin]
    others = [subprocess.Popen([*at_one, "3"]) for _ in range(3)]
    timed = subprocess.Popen([*at_one, "0.6"])
    try:
        time.sleep(0.05)
        assert real_time.schedule_in_real_time(timed.pid)
        before = Path(f"/proc/{timed.pid}/schedstat").read_text().split()
        time.sleep(0.3)
        after = Path(f"/proc/{timed.pid}/schedstat").read_text().split()
    finally:
        for process in (*others, timed):
            process.kill()
            process.wait()
    worked, waited = (int(now) - int(then) for now, then in zip(after[:2], before[:2], strict=True))
    assert worked > 4 * waited, "a quarter of the processor would be three times as long waited as worked"


def test_where_it_is_not_permitted_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with real_time.real_time_thread(away_from={_ANY}) as is_first:
        assert not is_first
        assert _ANY not in os.sched_getaffinity(0) or len(os.sched_getaffinity(0)) == 1
    assert not real_time.schedule_in_real_time(os.getpid())


def test_only_a_jail_with_a_gpu_may_be_put_first() -> None:
    none = frozenset[str]()
    for policy in (build_policy(BuildLimits()), run_policy(RunLimits())):
        assert _rlimits(policy, none)["RLIMIT_RTPRIO"] == 0
    assert "RLIMIT_RTPRIO" not in _rlimits(run_policy(RunLimits(), gpus=[0]), none)
