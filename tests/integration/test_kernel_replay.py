"""An audit's replays, on the device of host memory in the real jail: what stands beside a time, and what is a doubt."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from judge import audit
from judge.bench.timing import trial
from judge.bench.timing.kernel_replay import NotRecorded, Replayed
from judge.judgement import BuildReport, Judgement
from judge.measurements import BenchmarkCase
from judge.settings import JudgeSettings, RunLimits
from judge.verdict import Verdict
from tests.host_device.backend import BACKENDS, LANGUAGES
from tests.host_device.judging import DEVICE, build, twice_pack

CASE = dataclasses.replace(twice_pack().benchmarks[0], axes={"N": 2000})
PACK = dataclasses.replace(
    twice_pack(), benchmarks=(CASE,), bench=dataclasses.replace(twice_pack().bench, budget_s=0.6)
)
SOURCE = """
#include <stdlib.h>
#include <time.h>
__attribute__((constructor)) static void record() { setenv("HOST_RECORDING", "WHAT", 1); }
extern "C" void solve(const float* in, float* out, int n) {
    for (int i = 0; i < n; i++) out[i] = 2 * in[i];
    timespec t = {0, 6000000};
    nanosleep(&t, nullptr);
}
"""
LIES = """
extern "C" { int PyGILState_Ensure(); void PyGILState_Release(int); int PyRun_SimpleString(const char*); }
__attribute__((constructor)) static void patch() {
    int state = PyGILState_Ensure();
    PyRun_SimpleString(R"(
import tests.host_device.device as device
honest = device.HostDevice.time_call
device.HostDevice.time_call = lambda self, call: honest(self, call) / 2
)");
    PyGILState_Release(state);
}
"""

Audit = Callable[..., Judgement]


@pytest.fixture
def audited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Audit:
    settings = JudgeSettings(data_dir=tmp_path, run=RunLimits(memory_bytes=512 << 20))
    # What the clock outside sees is a matter of its own.
    monkeypatch.setattr(trial, "find_contradiction", lambda *_: None)

    def judge(recording: str, *, lies: bool = False, recorded: Callable[..., bytes] | None = None) -> Judgement:
        source = (LIES if lies else "") + SOURCE.replace("WHAT", recording)
        if recorded is not None:
            monkeypatch.setattr(audit, "_build_recorded", recorded)
        built = [(build(source), BuildReport(ok=True, wall_s=0.1))]
        [judgement] = audit.audit(
            built,
            PACK,
            DEVICE,
            3,
            settings,
            sources=[(source.encode(), "cuda")],
            backends=BACKENDS,
            languages=LANGUAGES,
        )
        return judgement

    return judge


def kept(judgement: Judgement) -> BenchmarkCase:
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert judgement.measurement is not None
    return judgement.measurement.cases[0]


@pytest.mark.exhaustive(by_file=True)
@pytest.mark.jail
def test_the_replayed_time_is_stored_beside_the_claim(audited: Audit) -> None:
    replayed_s = kept(audited("2 4e-3")).replayed_s
    assert isinstance(replayed_s, float)
    assert replayed_s >= 4e-3


@pytest.mark.exhaustive(by_file=True)
@pytest.mark.slow(19)
@pytest.mark.jail
def test_a_claim_below_the_replayed_time_is_not_trusted(audited: Audit) -> None:
    judgement = audited("2 6e-3", lies=True)
    assert judgement.verdict is Verdict.TIMING_NOT_TRUSTED
    assert judgement.measurement is None
    assert "launched again without the program's host code" in judgement.message


@pytest.mark.exhaustive(by_file=True)
@pytest.mark.jail
@pytest.mark.parametrize(
    ("recording", "reason"),
    [("it uses cudaGraphLaunch", "it uses cudaGraphLaunch"), ("3 1e-3", "WA: ")],
    ids=["cannot_be_done_again", "gives_another_answer"],
)
def test_a_call_that_cannot_be_replayed_keeps_its_time_with_the_reason(
    audited: Audit, recording: str, reason: str
) -> None:
    assert reason in str(kept(audited(recording, lies=True)).not_replayed)


@pytest.mark.exhaustive(by_file=True)
@pytest.mark.jail
def test_a_failed_build_with_the_recorder_is_a_reason(audited: Audit) -> None:
    def refuses(*_: object) -> bytes:
        raise NotRecorded("it cannot be built")

    assert kept(audited("2 6e-3", recorded=refuses)).not_replayed == "it cannot be built"


@pytest.mark.parametrize(
    ("claim_s", "operations", "doubted"),
    [(100e-6, 1, False), (95.1e-6, 0, False), (94.9e-6, 0, True), (94.1e-6, 1, False), (93.9e-6, 1, True)],
)
def test_a_replay_allows_five_per_cent_or_five_microseconds_and_one_per_operation(
    claim_s: float, operations: int, doubted: bool
) -> None:
    """5 % or 5 µs, and 1 µs an operation."""
    assert bool(Replayed(100e-6, 100e-6, operations).doubt(claim_s)) is doubted


def test_a_claim_is_held_against_the_fastest_process() -> None:
    scattered = Replayed(time_s=110e-6, least_s=100e-6)
    assert not scattered.doubt(96e-6)
    assert "take 100.0 µs" in scattered.doubt(94e-6)


def test_no_claim_is_doubted_without_a_replay() -> None:
    assert not Replayed(reason="graphs").doubt(1e-9)
