"""Whole trials on the device of host memory, in the real jail: three processes, the empty solve, the clock's bound."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judge import audit, pipeline
from judge.bench.measurement import TimedCase
from judge.bench.timing import clock_bound
from judge.bench.timing.submission_timer import SubmissionTimer, open_timer
from judge.bench.timing.trial import Bench
from judge.compile.artifact import Artifact
from judge.errors import Cancelled, InternalError
from judge.gpu.calibration import Calibration, store_calibration
from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.judgement_json import to_json
from judge.measurements import ObservedConditions
from judge.null_baselines import time_null_kernel
from judge.pipeline import Progress
from judge.settings import JudgeSettings, RunLimits
from judge.verdict import Verdict
from tests.host_device.backend import BACKENDS, LANGUAGES
from tests.host_device.judging import DEVICE, EMPTY, build, host_factory, twice_pack

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.exhaustive(by_file=True)]

CASE = dataclasses.replace(twice_pack().benchmarks[0], axes={"N": 2000})
PACK = dataclasses.replace(
    twice_pack(), benchmarks=(CASE,), bench=dataclasses.replace(twice_pack().bench, budget_s=1.5)
)
#: Right, and as slow as it is told to be, however busy the processor.
SLEEPS = """
#include <time.h>
extern "C" void solve(const float* in, float* out, int n) {
    for (int i = 0; i < n; i++) out[i] = 2 * in[i];
    timespec t = {0, NANOSECONDS};
    nanosleep(&t, nullptr);
}
"""
REPORT = BuildReport(ok=True, wall_s=0.1)
#: What the clock of a machine that does other things besides may be wrong by.
SLACK_S = 12e-3
_PYTHON = """
extern "C" { int PyGILState_Ensure(); void PyGILState_Release(int); int PyRun_SimpleString(const char*); }
__attribute__((constructor)) static void patch() {
    int state = PyGILState_Ensure();
    PyRun_SimpleString(R"(
import tests.host_device.device as device
honest = device.HostDevice.time_call
CODE
)");
    PyGILState_Release(state);
}
"""


def sleeps(milliseconds: int, python: str = "") -> Artifact:
    source = SLEEPS.replace("NANOSECONDS", str(milliseconds * 1_000_000))
    return build((_PYTHON.replace("CODE", python) if python else "") + source)


@pytest.fixture(autouse=True)
def _generous(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_bound, "SLACK_S", SLACK_S)


@pytest.fixture
def settings(tmp_path: Path) -> JudgeSettings:
    return JudgeSettings(data_dir=tmp_path, run=RunLimits(memory_bytes=512 << 20))


@pytest.fixture
def room(settings: JudgeSettings) -> Iterator[SubmissionTimer]:
    with open_room(settings) as opened:
        yield opened


def open_room(settings: JudgeSettings, device: DeviceInfo = DEVICE):  # type: ignore[no-untyped-def]
    factory = host_factory(settings, PACK.benchmarks)
    return open_timer(PACK, PACK.benchmarks, device, settings, factory, seed=3, build_null_kernel=lambda: build(EMPTY))


def test_an_honest_submission_gets_its_time_and_all_that_goes_with_it(
    room: SubmissionTimer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.bench.statistics.FEWEST_S", 1e6)
    progress: list[int] = []
    [(results, score)] = room.time([sleeps(5)], lambda _, calls: progress.append(calls))
    assert [result.outcome.verdict for result in results] == [Verdict.ACCEPTED], results
    assert score is not None
    assert score.low is not None
    assert score.high is not None
    assert score.low <= score.value <= score.high
    assert score.value >= 5e-3
    processes = score.cases[0].processes
    assert len(processes) == 3
    assert all(len(process) >= 50 for process in processes)
    # On a busy machine all may be measured again.
    assert sum(map(len, processes)) == score.runs <= sum(progress)
    assert score.fingerprint.pack == "twice 1.0.0"
    assert score.fingerprint.seen == ObservedConditions()


def test_what_is_far_behind_is_timed_less_often(room: SubmissionTimer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first process shows that it is; a limit that it keeps changes nothing."""
    monkeypatch.setattr("judge.bench.statistics.FEWEST_S", 1e6)
    [(results, far)] = room.time([sleeps(5)], far_s=4e-3)
    assert [result.outcome.verdict for result in results] == [Verdict.ACCEPTED], results
    assert far is not None
    first, *later = map(len, far.cases[0].processes)
    assert first >= 50
    assert all(20 <= calls < 50 for calls in later)
    [(_, near)] = room.time([sleeps(5)], far_s=1.0)
    assert near is not None
    assert all(len(process) >= 50 for process in near.cases[0].processes)


@pytest.mark.parametrize(
    "python",
    [
        "device.HostDevice.time_call = lambda self, call: honest(self, call) / 8",
        # It computes after the clock has been stopped.
        pytest.param(
            """
inspect = device.HostDevice.inspect
def early(self, call):
    self.call = call
    return honest(self, lambda: None) + 1e-3
def late(self, placed):
    self.call()
    return inspect(self, placed)
device.HostDevice.time_call, device.HostDevice.inspect = early, late
""",
            marks=pytest.mark.exhaustive(costly=True),
        ),
        # Nothing says how long a burst will be; it makes all of them longer, so that each call is a smaller part.
        pytest.param(
            """
import time
import judge.runner.timing as timing
make = timing.TimedCalls.place
def place(self, request):
    reply = make(self, request)
    if request.index == 0:
        time.sleep(50e-3)
    return reply
timing.TimedCalls.place = place
device.HostDevice.time_call = lambda self, call: honest(self, call) / 8
""",
            marks=pytest.mark.exhaustive(costly=True),
        ),
    ],
    ids=["claims_an_eighth", "computes_late", "makes_all_bursts_longer"],
)
@pytest.mark.slow(25)
def test_a_time_that_the_clock_outside_contradicts_is_not_trusted(
    python: str, room: SubmissionTimer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine needs longer to find out than the limit that a GPU is held for.
    monkeypatch.setattr("judge.bench.timing.submission_timer.HOLD_S", 120.0)
    [(results, score)] = room.time([sleeps(25, python)])
    assert score is None
    assert [result.outcome.verdict for result in results] == [Verdict.TIMING_NOT_TRUSTED], results
    assert "by the judge's own clock" in results[0].outcome.message


@pytest.mark.slow(14)
def test_a_time_below_what_the_device_can_do_is_not_trusted(settings: JudgeSettings) -> None:
    slow = Calibration("", "host", "", "2026-01-01", 16e3 / 2, 16e3 / 2, {})
    store_calibration(settings, DEVICE, slow)
    with open_room(settings) as opened:
        [(results, _)] = opened.time([sleeps(5)])
    assert results[0].outcome.verdict is Verdict.TIMING_NOT_TRUSTED
    assert "this device needs 2 s" in results[0].outcome.message


@pytest.mark.slow(14)
def test_submissions_take_turns_and_one_that_fails_fails_alone(room: SubmissionTimer) -> None:
    between: list[str] = []
    fast, slow, wrong = room.time([sleeps(1), sleeps(30), build(EMPTY)], between=lambda: between.append("library"))
    assert len(between) == 3, "a library has its turn when each had one"
    assert fast[1] is not None
    assert slow[1] is not None
    assert fast[1].high is not None
    assert slow[1].low is not None
    assert fast[1].high < slow[1].low
    assert wrong[1] is None
    assert wrong[0][0].outcome.verdict is Verdict.WRONG_ANSWER


def test_one_that_crashes_or_prints_too_much_is_told_so(room: SubmissionTimer) -> None:
    crashes = build('extern "C" void solve(const float*, float*, int) { __builtin_trap(); }')
    prints = SLEEPS.replace("NANOSECONDS", "1000").replace("#include", "#include <stdio.h>\n#include", 1)
    prints = prints.replace(
        "timespec t", 'for (int i = 0; i < 1000000; i++) puts("a long line of text"); timespec t', 1
    )
    crashed, printed = room.time([crashes, build(prints)])
    assert crashed[0][0].outcome.verdict is Verdict.RUNTIME_ERROR
    assert "in solve" in crashed[0][0].outcome.message
    assert printed[0][0].outcome.verdict is Verdict.OUTPUT_LIMIT_EXCEEDED


def test_no_details_of_a_trial_name_the_schedule(room: SubmissionTimer) -> None:
    [(results, _)] = room.time([sleeps(1)])
    timed = results[0].timed
    assert isinstance(timed, TimedCase)
    assert set(timed.details) == {
        "stopped_by", "opened", "clock_s", "clock_by_slope_s", "clock_in_all_s", "around_s",
    }  # fmt: skip
    assert timed.details["clock_s"] == pytest.approx(timed.value, abs=SLACK_S)
    assert timed.details["clock_in_all_s"] == pytest.approx(timed.value, abs=SLACK_S)


def test_a_null_kernel_that_was_timed_ahead_is_not_timed_again(
    settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert time_null_kernel(PACK, DEVICE, settings, backends=BACKENDS, languages=LANGUAGES) == 1
    assert time_null_kernel(PACK, DEVICE, settings, backends=BACKENDS, languages=LANGUAGES) == 0
    assert BACKENDS.of("cuda").lacking_baselines(PACK, DEVICE, settings, older_s=0.0) == (CASE,)
    monkeypatch.setattr(Bench, "time_null_kernel", lambda *_: pytest.fail("it is known"))
    with open_room(settings) as room:
        assert room.baselines.of(CASE).line.per_call_s > 0


def test_whoever_no_longer_wants_it_stops_it(settings: JudgeSettings) -> None:
    progress: list[int] = []
    factory = dataclasses.replace(host_factory(settings, PACK.benchmarks), cancelled=lambda: sum(progress) > 20)
    opened = open_timer(PACK, PACK.benchmarks, DEVICE, settings, factory, 3, build_null_kernel=lambda: build(EMPTY))
    with opened as room, pytest.raises(Cancelled):
        room.time([sleeps(1)], lambda _, calls: progress.append(calls))
    assert sum(progress) < 50


def _judge(
    artifact: Artifact, settings: JudgeSettings, heard: Callable[[Progress], None] = lambda _: None
) -> Judgement:
    """The pipeline's own way, but for the device and the compiler."""
    return pipeline.run(
        artifact, REPORT, PACK, DEVICE, 3, settings, progress=heard, backends=BACKENDS, languages=LANGUAGES
    )


def test_a_judgement_from_the_first_case_to_the_score(settings: JudgeSettings) -> None:
    heard: list[Progress] = []
    judgement = _judge(sleeps(1), settings, heard.append)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert [case.id for case in judgement.cases] == ["small", "one", "prime", "large", "timed"]
    assert judgement.measurement is not None
    assert json.loads(json.dumps(to_json(judgement)))["measurement"]["runs"] == judgement.measurement.runs
    timing = [step.done for step in heard if step.stage == "timing" and step.case_id == "timed"]
    assert timing == sorted(timing)
    # A busy machine makes the judge measure everything again: the progress counts all calls, the score the last ones.
    assert timing[-1] >= judgement.measurement.runs


def test_what_fails_only_when_it_is_timed_fails(settings: JudgeSettings) -> None:
    """Functional cases are calls too, and their process is another."""
    late = SLEEPS.replace("NANOSECONDS", "1000").replace("i < n;", "i < (n == 2000 ? n / 2 : n);", 1)
    judgement = _judge(build(late), settings)
    assert judgement.verdict is Verdict.WRONG_ANSWER
    assert judgement.measurement is None
    assert [case.verdict for case in judgement.cases][-2:] == [Verdict.ACCEPTED, Verdict.WRONG_ANSWER]
    assert judgement.message == judgement.cases[-1].message != ""


def test_who_prints_too_much_only_when_he_is_timed_is_not_accepted(settings: JudgeSettings) -> None:
    line = 'if (n == 2000) for (int k = 0; k < 3000; k++) printf("%64d\\n", k);'
    loud = "#include <stdio.h>\n" + SLEEPS.replace("NANOSECONDS", "1000").replace("for (", line + " for (", 1)
    judgement = _judge(build(loud), settings)
    assert judgement.verdict is Verdict.OUTPUT_LIMIT_EXCEEDED, judgement


def test_an_audit_judges_each_by_its_benchmarks(settings: JudgeSettings) -> None:
    built = [(sleeps(1), REPORT), (build(EMPTY), REPORT)]
    right, wrong = audit.audit(built, PACK, DEVICE, 3, settings, backends=BACKENDS, languages=LANGUAGES)
    assert (right.verdict, wrong.verdict) == (Verdict.ACCEPTED, Verdict.WRONG_ANSWER)
    assert right.measurement is not None
    assert (wrong.measurement, wrong.message) == (None, wrong.cases[0].message)
    assert right.build is REPORT
    emulator = dataclasses.replace(DEVICE, kind="emulator")
    with pytest.raises(InternalError, match="not timed"):
        audit.audit(built, PACK, emulator, 3, settings)
