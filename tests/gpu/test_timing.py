"""Times from a real GPU: honest ones are plausible, and the simplest ways around the clock do not pay."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from judge.bench.timing.case_timer import HOLD_S
from judge.judgement import DeviceInfo, Judgement
from judge.pipeline import Mode
from tests.gpu import kernels
from tests.gpu.conftest import JudgeOnGpu

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc]


@pytest.fixture(scope="module")
def kept() -> dict[str, Judgement]:
    return {}


@pytest.fixture
def honest(judge_on_gpu: JudgeOnGpu, kept: dict[str, Judgement]) -> Judgement:
    if "honest" not in kept:
        kept["honest"] = judge_on_gpu(kernels.HONEST, mode=Mode.SUBMIT)
        print(f"judged in {kept['honest'].wall_s:.1f} s: {kept['honest'].measurement}")
    return kept["honest"]


def test_an_honest_kernel_is_timed(honest: Judgement, gpu: DeviceInfo) -> None:
    assert honest.verdict.value == "AC", honest
    measurement = honest.measurement
    assert measurement is not None
    assert measurement.metric == "time_s"
    assert measurement.runs >= 150
    assert measurement.low is not None
    assert measurement.high is not None
    assert measurement.low < measurement.value < measurement.high < 1.03 * measurement.value
    assert [len(process) >= 50 for process in measurement.cases[0].processes] == [True] * 3
    assert not measurement.fingerprint.seen.bursts_dropped
    assert measurement.spread < 0.05
    assert measurement.gb_per_s is not None
    share = measurement.gb_per_s * 1e9 / gpu.details["peak_bytes_per_s"]
    assert 0.5 < share < 1.0, "a copy kernel reaches most of the memory's bandwidth and never more"


def test_the_same_kernel_gets_the_same_time(judge_on_gpu: JudgeOnGpu, honest: Judgement) -> None:
    again = judge_on_gpu(kernels.HONEST, mode=Mode.SUBMIT)
    assert again.measurement is not None
    assert honest.measurement is not None
    assert again.measurement.value == pytest.approx(honest.measurement.value, rel=0.02)


def test_work_on_a_side_stream_is_on_the_clock(judge_on_gpu: JudgeOnGpu, honest: Judgement) -> None:
    judgement = judge_on_gpu(kernels.SIDE_STREAM, mode=Mode.SUBMIT)
    assert judgement.verdict.value in ("AC", "TI"), judgement
    if judgement.measurement is not None:
        assert honest.measurement is not None
        assert judgement.measurement.value > 0.985 * honest.measurement.value


@pytest.mark.parametrize("name", ["REPLAYS", "SKIPS"])
def test_what_was_not_computed_is_not_accepted(judge_on_gpu: JudgeOnGpu, name: str) -> None:
    judgement = judge_on_gpu(getattr(kernels, name), mode=Mode.SUBMIT)
    assert judgement.verdict.value == "WA", judgement
    assert judgement.measurement is None


@pytest.mark.parametrize("call_s", [0.02, 0.3, 3.5])
def test_slow_calls_hold_the_gpu_for_half_a_minute_at_most(judge_on_gpu: JudgeOnGpu, call_s: float) -> None:
    """Slow where it is timed only, so that the whole judgement is the timing; two seconds for what surrounds it."""
    spin = f"if (N > 10000000) spin<<<1, 1>>>({round(call_s * 1e9)}ull); {kernels.LAUNCH}"
    judgement = judge_on_gpu(kernels.vector_add(spin, before=kernels.SPIN), mode=Mode.SUBMIT)
    print(f"{call_s} s a call: judged in {judgement.wall_s:.1f} s, {judgement.measurement}")
    assert judgement.verdict.value == "AC", judgement.message
    assert judgement.measurement is not None
    assert judgement.measurement.value == pytest.approx(call_s, rel=0.02)
    assert judgement.wall_s < HOLD_S + 2


def test_a_busy_machine_accuses_nobody(judge_on_gpu: JudgeOnGpu, honest: Judgement) -> None:
    """Beside two busy loops per processor the time is the same, or nobody can tell it: the judge's fault then."""
    loop = [sys.executable, "-S", "-c", "while True: pass"]
    loops = [subprocess.Popen(loop) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        judgement = judge_on_gpu(kernels.HONEST, mode=Mode.SUBMIT)
    finally:
        for process in loops:
            process.kill()
            process.wait()
    assert judgement.verdict.value in {"AC", "IE"}, judgement
    if judgement.measurement is not None:
        assert honest.measurement is not None
        assert judgement.measurement.value == pytest.approx(honest.measurement.value, rel=0.05)
