"""Attacks on what surrounds a timed call, on the device of host memory, by the whole protocol in the real jail.

The judge's clock sees a burst with all that surrounds its calls, and takes off what that costs an empty solve. Who
saves time there may claim to have saved it in ``solve``.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from judge.bench.measurement import Measurement
from judge.bench.timing import clock_bound, submission_timer
from judge.bench.timing.submission_timer import open_timer
from judge.bench.timing.trial import CaseResult
from judge.settings import JudgeSettings, RunLimits
from judge.verdict import Verdict
from tests.host_device.flushing import FLUSH_S
from tests.host_device.judging import DEVICE, EMPTY, build, host_factory, twice_pack

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.exhaustive(by_file=True)]

CASE = dataclasses.replace(twice_pack().benchmarks[0], axes={"N": 2000})
PACK = dataclasses.replace(
    twice_pack(), benchmarks=(CASE,), bench=dataclasses.replace(twice_pack().bench, budget_s=6.0)
)
SOLVE_S = 0.02
#: What it computes takes no time; that it takes as long as it does is no question of how busy the processor is.
SLOW = f"""
#include <time.h>
extern "C" {{ int PyGILState_Ensure(); void PyGILState_Release(int); int PyRun_SimpleString(const char*); }}
__attribute__((constructor)) static void patch() {{
    int state = PyGILState_Ensure();
    if (PyRun_SimpleString(R"(PYTHON)")) __builtin_trap();
    PyGILState_Release(state);
}}
extern "C" void solve(const float* in, float* out, int n) {{
    for (int i = 0; i < n; i++) out[i] = 2 * in[i];
    timespec t = {{0, {round(SOLVE_S * 1e9)}}};
    nanosleep(&t, nullptr);
}}
"""
#: The flush is left out, and what it takes is taken off the time of the call that follows.
NOT_FLUSHED = f"""
import tests.host_device.flushing as flushing

def time_call(self, call, real=flushing.FlushingDevice.time_call):
    return real(self, call) - {0.8 * FLUSH_S}

flushing.FlushingDevice.settle = lambda self: None
flushing.FlushingDevice.time_call = time_call
"""


def _timed(python: str, folder: Path) -> tuple[list[CaseResult], Measurement | None]:
    settings = JudgeSettings(data_dir=folder, run=RunLimits(memory_bytes=512 << 20))
    made = host_factory(settings, PACK.benchmarks)
    request = dataclasses.replace(made.request, device_module="tests.host_device.flushing")
    factory = dataclasses.replace(made, request=request)
    with open_timer(
        PACK, PACK.benchmarks, DEVICE, settings, factory, 3, build_null_kernel=lambda: build(EMPTY)
    ) as room:
        [(results, score)] = room.time([build(SLOW.replace("PYTHON", python))])
    return results, score


@pytest.fixture(autouse=True)
def _generous(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets the error of a busy machine's clock, and how long it may take."""
    monkeypatch.setattr(clock_bound, "SLACK_S", 8e-3)
    monkeypatch.setattr(submission_timer, "HOLD_S", 120.0)


def test_what_surrounds_a_call_is_not_its_own(tmp_path: Path) -> None:
    results, score = _timed("", tmp_path)
    assert score is not None, results
    assert SOLVE_S <= score.value < SOLVE_S + FLUSH_S / 2


@pytest.mark.slow(40)
def test_time_saved_around_a_call_is_not_taken_off_it(tmp_path: Path) -> None:
    results, score = _timed(NOT_FLUSHED, tmp_path)
    if score is None:
        assert [result.outcome.verdict for result in results] == [Verdict.TIMING_NOT_TRUSTED], results
    else:
        assert score.value > 0.9 * SOLVE_S, f"{score.value:.4g} s for what takes {SOLVE_S} s"
