"""How kernels go through a batch: filter, build, device; and what becomes of them where a process or a GPU fails."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from judge.batch import pool
from judge.batch.kernels import Kernel, Plan, Result, Target
from judge.batch.pool import Batch
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings
from judge.verdict import Verdict

EMULATOR = Target("emulator", DeviceInfo("emulator", "emulator", "CPU emulator", "9.0"))
GPUS = [Target(f"cuda:{number}", DeviceInfo(f"gpu-{number}", "cuda", "A GPU", "9.0")) for number in range(2)]


@pytest.fixture(autouse=True)
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "log"
    worker = str(Path(__file__).with_name("fake_worker.py"))
    environment = {**os.environ, "FAKE_WORKER_LOG": str(path)}
    monkeypatch.setattr(pool, "own_process", lambda _module: ([sys.executable, worker], environment))
    return path


def judge(
    sources: Iterable[str | Result], *targets: Target, screen: Target | None = None, jobs: int = 2, beside: int = 1
) -> dict[str, Result]:
    plan = Plan(targets, screen, jobs, "submit" if beside == 1 else "check", 7, beside=beside)
    batch = Batch(plan, JudgeSettings(data_dir=Path("/nonexistent")))
    found: dict[str, Result] = {}
    kernels = (
        each if isinstance(each, Result) else Kernel(each.partition(":")[0], "softmax", each.encode())
        for each in sources
    )
    try:
        for result in batch.results(kernels):
            assert result.kernel.name not in found
            found[result.kernel.name] = result
    finally:
        batch.close()
    return found


def test_every_kernel_gets_one_result() -> None:
    found = judge([f"k{number}:" for number in range(200)], EMULATOR, jobs=3)
    assert len(found) == 200
    assert {result.verdict for result in found.values()} == {Verdict.ACCEPTED}


def test_no_kernel_at_all() -> None:
    assert judge([], EMULATOR) == {}


def test_what_is_no_kernel_is_passed_on() -> None:
    problem = Result(Kernel("pipe", "", b""), problem="is not a file")
    found = judge(["a:", problem, "b:unknown"], EMULATOR)
    assert found["pipe"] == problem
    assert found["a"].verdict is Verdict.ACCEPTED
    assert (found["b"].verdict, found["b"].problem) == (None, "there is no such challenge")


def test_a_gpu_gets_only_what_is_built(log: Path) -> None:
    found = judge(["a:", "b:does not compile"], *GPUS)
    assert (found["a"].verdict, found["b"].verdict) == (Verdict.ACCEPTED, Verdict.COMPILE_ERROR)
    lines = log.read_text().splitlines()
    judged = next(number for number, line in enumerate(lines) if line.startswith("judge") and line.endswith(" a:"))
    assert lines.index("build submit gpu-0 a:") < judged
    assert not any(line.startswith("judge") and "b:" in line for line in lines)


def test_gpus_time_the_null_kernel_of_a_challenge_while_there_is_nothing_else_for_them(log: Path) -> None:
    """The kernels are read when both GPUs have timed it."""

    def kernels() -> Iterator[str]:
        yield "a:does not compile"
        until = time.monotonic() + 60
        while log.read_text().count("time null") < 2 if log.exists() else True:
            assert time.monotonic() < until
            time.sleep(0.01)
        yield "b:"

    found = judge(kernels(), *GPUS)
    assert found["b"].verdict is Verdict.ACCEPTED
    asked = [line.removesuffix(" a:does not compile") for line in log.read_text().splitlines() if " null " in line]
    assert asked[0] == "build null submit gpu-0"
    assert sorted(asked[1:]) == ["time null submit gpu-0", "time null submit gpu-1"]


def test_without_times_no_null_kernel_is_timed(log: Path) -> None:
    judge(["a:", "b:"], GPUS[0], beside=2)
    judge(["c:"], EMULATOR)
    assert " null " not in log.read_text()


def test_kernels_without_times_share_a_gpu(log: Path) -> None:
    """Two processes of one GPU: each waits, in its kernel, for the other one's."""
    found = judge(["a:meets b", "b:meets a"], GPUS[0], beside=2)
    assert {name: each.verdict for name, each in found.items()} == dict.fromkeys("ab", Verdict.ACCEPTED)
    assert {line.split()[0] for line in log.read_text().splitlines()} == {"build", "judge"}


def test_a_gpu_that_several_share_is_lost(log: Path) -> None:
    (log.parent / "lost-gpu-0").touch()
    found = judge([f"k{number}:" for number in range(12)], *GPUS, beside=3)
    assert {result.device for result in found.values()} == {"cuda:1"}
    (log.parent / "lost-gpu-1").touch()
    found = judge([f"k{number}:" for number in range(12)], *GPUS, beside=3)
    assert len(found) == 12
    assert all(result.problem.startswith("no device is left") for result in found.values())


def test_what_the_filter_refuses_gets_no_gpu(log: Path) -> None:
    found = judge(["a:", "b:races", "c:needs a GPU"], GPUS[0], screen=EMULATOR)
    assert {name: (each.verdict, each.screened) for name, each in found.items()} == {
        "a": (Verdict.ACCEPTED, False),
        "b": (Verdict.WRONG_ANSWER, True),
        "c": (Verdict.ACCEPTED, False),
    }
    asked = log.read_text().splitlines()
    assert "judge check emulator b:races" in asked
    assert not any("gpu" in line and "b:races" in line for line in asked)


def test_a_process_that_is_killed_costs_nothing() -> None:
    found = judge(["a:dies once", "b:", "c:dies once", "d:"], EMULATOR)
    assert {result.verdict for result in found.values()} == {Verdict.ACCEPTED}


def test_a_kernel_whose_process_ends_each_time_is_told_of() -> None:
    found = judge(["a:dies", "b:"], EMULATOR)
    assert found["b"].verdict is Verdict.ACCEPTED
    assert found["a"].verdict is Verdict.INTERNAL_ERROR
    assert "by signal 9, 2 times" in found["a"].problem


def test_a_gpu_that_fails_is_left_out_and_its_kernel_goes_to_another(tmp_path: Path) -> None:
    (tmp_path / "lost-gpu-0").touch()
    found = judge([f"k{number}:" for number in range(20)], *GPUS)
    assert {result.verdict for result in found.values()} == {Verdict.ACCEPTED}
    assert {result.device for result in found.values()} == {"cuda:1"}


def test_without_a_gpu_left_each_kernel_is_told_so(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f"lost-gpu-{number}").touch()
    found = judge([f"k{number}:" for number in range(50)], *GPUS)
    assert len(found) == 50
    assert {result.verdict for result in found.values()} == {Verdict.INTERNAL_ERROR}
    assert "Xid 79" in found["k0"].problem


def test_what_a_gpu_fails_on_is_judged_once_more() -> None:
    assert judge(["a:fails once"], GPUS[0])["a"].verdict is Verdict.ACCEPTED


def test_kernels_are_read_as_they_are_needed() -> None:
    read: list[int] = []

    def kernels() -> Iterator[Kernel]:
        for number in range(1000):
            read.append(number)
            yield Kernel(str(number), "softmax", b"k:")

    batch = Batch(Plan((EMULATOR,), None, 1, "submit", 1), JudgeSettings(data_dir=Path("/nonexistent")))
    results = batch.results(kernels())
    for _ in range(5):
        next(results)
    assert len(read) < 50
    batch.close()


def test_an_error_of_whoever_reads_them_is_raised() -> None:
    def kernels() -> Iterator[str]:
        yield "a:"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        judge(kernels(), EMULATOR)


def test_the_seed_is_the_batch_s_or_the_kernel_s_own() -> None:
    batch = Batch(Plan((EMULATOR,), None, 1, "submit", 7), JudgeSettings(data_dir=Path("/nonexistent")))
    kernels = [Kernel("a", "softmax", b"a:"), Kernel("b", "softmax", b"b:", seed=9)]
    assert {result.kernel.name: result.seed for result in batch.results(kernels)} == {"a": 7, "b": 9}
    batch.close()
