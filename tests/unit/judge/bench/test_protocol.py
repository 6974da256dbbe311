"""Timing through the real jail and supervisor, on the device of host memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.bench.protocol import Bench, Timing
from judge.bench.stopping import StoppingRule
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings, RunLimits
from judge.supervisor.process import RunnerEnded
from judge.supervisor.session import Session
from judge.verdict import Verdict
from tests.host_device.judging import DEVICE, HONEST, build, host_factory, twice_pack

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

_SETTINGS = JudgeSettings(data_dir=Path("/nonexistent"), run=RunLimits(memory_bytes=512 << 20))
_RULE = StoppingRule(least=20, most=20)
_STATIC = "static int calls = 0; calls++; "


@pytest.fixture
def sessions() -> Iterator[list[Session]]:
    open_sessions: list[Session] = []
    yield open_sessions
    for session in open_sessions:
        session.finish()


def _time(source: str, sessions: list[Session], device: DeviceInfo = DEVICE, heard: list[int] | None = None) -> Timing:
    pack = twice_pack()
    session = host_factory(_SETTINGS, pack.benchmarks).start()
    sessions.append(session)
    session.load(build(source))
    bench = Bench(session, pack, pack.benchmarks[0], device, 5, _RULE)
    return bench.run((heard if heard is not None else []).append)


def _late(trick: str) -> str:
    """Honest at first, and then a trick, when the calls are sure to be timed ones."""
    return HONEST.replace("{ for", "{ " + _STATIC + "if (calls > 8) { " + trick + " } for")


def test_an_honest_submission_has_as_many_samples_as_asked_for(sessions: list[Session]) -> None:
    heard: list[int] = []
    timing = _time(HONEST, sessions, heard=heard)
    assert timing.outcome.verdict is Verdict.ACCEPTED
    assert len(timing.samples) == timing.summary.runs == 20
    assert heard == list(range(1, 21))
    assert all(0 < sample < 1 for sample in timing.samples)
    assert sessions[0].calls == 23, "warm-ups come first and look the same"


@pytest.mark.parametrize(
    "trick",
    [
        "return;",
        "n = n / 10 * 9;",
        "static float* kept; if (!kept) { kept = new float[n]; for (int i = 0; i < n; i++) kept[i] = 2 * in[i]; }"
        " for (int i = 0; i < n; i++) out[i] = kept[i]; return;",
    ],
    ids=["does_nothing", "skips_a_tenth", "replays"],
)
def test_what_a_timed_call_did_not_compute_is_a_wrong_answer(trick: str, sessions: list[Session]) -> None:
    timing = _time(_late(trick), sessions)
    assert timing.outcome.verdict is Verdict.WRONG_ANSWER
    assert timing.outcome.mismatch is not None
    assert timing.samples == ()


def test_damage_done_by_a_timed_call_is_seen(sessions: list[Session]) -> None:
    timing = _time(_late("out[n] = 1;"), sessions)
    assert timing.outcome.verdict is Verdict.RUNTIME_ERROR


def test_a_crash_in_a_timed_call_ends_the_timing(sessions: list[Session]) -> None:
    with pytest.raises(RunnerEnded):
        _time(_late("__builtin_trap();"), sessions)


def test_a_time_that_the_memory_could_not_allow_is_not_trusted(sessions: list[Session]) -> None:
    slow = DeviceInfo("gpu", "cuda", "GPU", "9.0", {"peak_bytes_per_s": 1e6, "l2_bytes": 0})
    timing = _time(HONEST, sessions, slow)
    assert timing.outcome.verdict is Verdict.TIMING_NOT_TRUSTED
    assert "memory needs" in timing.outcome.message
