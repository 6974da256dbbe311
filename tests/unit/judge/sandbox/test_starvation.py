from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from judge.sandbox.starvation import FairClock, ProcessorTime, processor_times, starved_s

_SPIN = "print('up', flush=True)\nwhile True: pass"
_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {_SPIN!r}])"
_SLEEP = "import time; print('up', flush=True); time.sleep(60)"


def _start(argv: list[str]) -> subprocess.Popen[bytes]:
    """Starts it in a session of its own and waits until it says that it is up."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process


def test_two_that_share_a_processor_wait_for_each_other_and_one_that_sleeps_for_nobody() -> None:
    (processor, *_) = os.sched_getaffinity(0)
    at_one = ["taskset", "-c", str(processor), sys.executable, "-S", "-c"]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for argv in ([*at_one, _CHILD], [*at_one, _CHILD], [sys.executable, "-S", "-c", _SLEEP]):
            started.append(_start(argv))
        *pair, sleeper = started
        time.sleep(0.1)  # until it sleeps
        before = [processor_times(process.pid) for process in (*pair, sleeper)]
        time.sleep(0.4)
        after = [processor_times(process.pid) for process in (*pair, sleeper)]
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    waited = [starved_s(*both, 0.4) for both in zip(before, after, strict=True)]
    assert waited[0] + waited[1] > 0.1, "of 0.4 s about half each; their children are those that work"
    assert waited[2] < 0.05


def test_of_a_process_that_is_gone_nothing_is_known() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert processor_times(process.pid) == {}
    assert starved_s({1: ProcessorTime(0.0, 2.0)}, {}, 1.0) == 0.0


def test_threads_that_wait_in_turn_lose_it_each_and_threads_that_wait_together_once() -> None:
    none = ProcessorTime(0.0, 0.0)
    in_turn = {1: ProcessorTime(1.0, 2.0), 2: ProcessorTime(1.0, 2.0)}
    assert starved_s({1: none, 2: none}, in_turn, 6.0) == 4.0
    together = {1: ProcessorTime(3.0, 3.0), 2: ProcessorTime(3.0, 3.0)}
    assert starved_s({1: none, 2: none}, together, 6.0) == 3.0
    asleep = {1: ProcessorTime(0.1, 0.0), 2: none}
    assert starved_s({1: none, 2: none}, asleep, 6.0) == 0.0


def test_a_fair_clock_leaves_out_what_its_threads_waited() -> None:
    waits = iter([{1: 0.5}, {1: 2.0}, {2: 4.0}])
    now = iter([100.0, 101.0, 104.0, 110.0])
    clock = FairClock(lambda: {at: ProcessorTime(0.0, it) for at, it in next(waits).items()}, now=lambda: next(now))
    assert [clock.fair_s() for _ in range(3)] == [0.5, 2.0, 4.0]
