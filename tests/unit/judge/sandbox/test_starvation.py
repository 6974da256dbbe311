from __future__ import annotations

import os
import subprocess
import sys
import time

from judge.sandbox.starvation import FairClock, longest_wait_s, waits_s

_SPIN = "import time\nend = time.monotonic() + 0.6\nwhile time.monotonic() < end: pass"
_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {_SPIN!r}])"


def test_two_that_share_a_processor_wait_for_each_other_and_one_that_sleeps_for_nobody() -> None:
    (processor, *_) = os.sched_getaffinity(0)
    at_one = ["taskset", "-c", str(processor), sys.executable, "-S", "-c"]
    pair = [subprocess.Popen([*at_one, _CHILD]) for _ in range(2)]
    sleeper = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(5)"])
    try:
        time.sleep(0.1)
        before = [waits_s(process.pid) for process in (*pair, sleeper)]
        time.sleep(0.4)
        after = [waits_s(process.pid) for process in (*pair, sleeper)]
    finally:
        for process in (*pair, sleeper):
            process.kill()
            process.wait()
    waited = [longest_wait_s(*both) for both in zip(before, after, strict=True)]
    assert waited[0] + waited[1] > 0.1, "of 0.4 s about half each; their children are those that work"
    assert waited[2] < 0.05


def test_of_a_process_that_is_gone_nothing_is_known() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert waits_s(process.pid) == {}
    assert longest_wait_s({1: 2.0}, {}) == 0.0
    assert longest_wait_s({1: 2.0}, {1: 5.0, 2: 1.0}) == 3.0


def test_a_fair_clock_leaves_out_what_its_threads_waited() -> None:
    waits = iter([{1: 0.5}, {1: 2.0, 2: 0.25}, {2: 4.0}])
    now = iter([100.0, 101.0, 104.0, 110.0])
    clock = FairClock(lambda: next(waits), now=lambda: next(now))
    assert [clock.fair_s() for _ in range(3)] == [0.5, 2.0, 4.25]
