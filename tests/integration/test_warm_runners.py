"""Warm runners in the real jail: they serve as others do, and nothing of them is left."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judge.settings import JudgeSettings, RunLimits
from judge.supervisor.case_runner import CaseRunner
from judge.supervisor.runner_start import start_runner
from judge.supervisor.warm_pool import WarmPool
from judge.verdict import Verdict
from tests.host_device.judging import HONEST, build, host_factory, twice_pack

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]
SETTINGS = JudgeSettings(data_dir=Path("/nonexistent"), run=RunLimits(memory_bytes=512 << 20))
PACK = twice_pack()


def pool_of(count: int) -> tuple[WarmPool, Callable[..., CaseRunner]]:
    factory = host_factory(SETTINGS, PACK.cases)

    def start(input_bytes: int, output_bytes: int):  # type: ignore[no-untyped-def]
        request = dataclasses.replace(factory.request, input_bytes=input_bytes, output_bytes=output_bytes)
        return start_runner(factory.launcher, request, factory.bounds.print_bytes)

    warm = WarmPool(start, count, start_s=20)
    serving = dataclasses.replace(factory, warm=warm)
    return warm, lambda source: CaseRunner(serving, PACK, build(source), seed=7)


@pytest.fixture
def pool() -> Iterator[tuple[WarmPool, Callable[..., CaseRunner]]]:
    warm, case_runner = pool_of(2)
    yield warm, case_runner
    warm.close()


def _wait(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_they_judge_and_die_with_their_submission(pool: tuple[WarmPool, Callable[..., CaseRunner]]) -> None:
    warm, case_runner = pool
    _wait(lambda: warm.ready == 2)
    crash = HONEST.replace("for", "if (n == 5) __builtin_trap(); for", 1)
    with warm.quiet():
        for source, expected in ((HONEST, Verdict.ACCEPTED), (crash, Verdict.RUNTIME_ERROR)):
            before = warm.ready
            judging = case_runner(source)
            try:
                answers = [answer.judgement.verdict for answer in judging.judge_cases(PACK.cases[:1])]
            finally:
                judging.close()
            assert answers == [expected]
            assert warm.ready == before - 1
    _wait(lambda: warm.ready == 2)


def test_what_one_submission_leaves_the_next_does_not_find(pool: tuple[WarmPool, Callable[..., CaseRunner]]) -> None:
    _, case_runner = pool
    # It works once in a process, and (where a kernel without Landlock lets it write) once in a /tmp.
    once = HONEST.replace(
        "extern",
        '#include <stdio.h>\n#include <stdlib.h>\nstatic void once() { if (FILE *f = fopen("/tmp/seen", "r")) abort();'
        ' if (FILE *f = fopen("/tmp/seen", "w")) fclose(f); }\nextern',
    ).replace("{ for", "{ static bool first = true; if (first) once(); first = false; for")
    for _ in range(3):
        judging = case_runner(once)
        try:
            verdicts = {answer.judgement.verdict for answer in judging.judge_cases(PACK.cases)}
        finally:
            judging.close()
        assert verdicts == {Verdict.ACCEPTED}


def test_they_die_with_a_worker_that_is_killed() -> None:
    code = (
        "import time; from tests.integration.test_warm_runners import pool_of, _wait\n"
        "warm, _ = pool_of(2); _wait(lambda: warm.ready == 2); print('ready', flush=True); time.sleep(60)"
    )
    token = f"warm-test-{os.getpid()}"
    worker = subprocess.Popen(
        [sys.executable, "-c", code, token], stdout=subprocess.PIPE, cwd=Path(__file__).resolve().parents[2]
    )
    assert worker.stdout is not None
    with worker:
        assert worker.stdout.readline() == b"ready\n"
        runners = _descendants(worker.pid)
        assert len(runners) >= 4
        worker.send_signal(signal.SIGKILL)
    _wait(lambda: not any(_running(pid) for pid in runners))


def _descendants(pid: int) -> list[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found: list[int] = []
    for child, parent in parents.items():
        while parent > 1:
            if parent == pid:
                found.append(child)
                break
            parent = parents.get(parent, 0)
    return found


def _running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
