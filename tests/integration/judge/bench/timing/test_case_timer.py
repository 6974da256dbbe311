"""Timing one case through the real jail, runner and supervisor, on the device of host memory."""

from __future__ import annotations

import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from judge.bench.conditions import MAX_DROPPED_BURSTS, GpuConditions
from judge.bench.statistics import StoppingRule
from judge.bench.timing.call_maker import CallMaker
from judge.bench.timing.case_timer import CaseTimer, ProcessTiming
from judge.bench.timing.null_kernel import CALLS, NullKernelProbe, NullKernelProcesses
from judge.bench.timing.sampling import SecretStream
from judge.bench.timing.verification import Verifier
from judge.errors import InternalError
from judge.gpu.nvml import GpuState
from judge.packs.pack import Pack
from judge.settings import JudgeSettings, RunLimits
from judge.supervisor.process import RunnerEnded
from judge.supervisor.session import Session
from judge.supervisor.verdict_rules import Outcome
from judge.verdict import Verdict
from tests.fake_gpu import FakeGpuWatch
from tests.host_device.judging import EMPTY, HONEST, build, host_factory, pack_like_twice, twice_pack

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.exhaustive(by_file=True)]

_SETTINGS = JudgeSettings(data_dir=Path("/nonexistent"), run=RunLimits(memory_bytes=512 << 20))
_STATIC = "static int calls = 0; calls++; "
#: Code in the runner's own Python, as a submission's constructor may run it.
_PYTHON = """
extern "C" { int PyGILState_Ensure(); void PyGILState_Release(int); int PyRun_SimpleString(const char*); }
__attribute__((constructor)) static void patch() {
    int state = PyGILState_Ensure();
    PyRun_SimpleString(R"(CODE)");
    PyGILState_Release(state);
}
"""


@pytest.fixture
def sessions() -> Iterator[list[Session]]:
    open_sessions: list[Session] = []
    yield open_sessions
    for session in open_sessions:
        session.finish()


@pytest.fixture
def however_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asks for the least number of calls on a machine on which they take long, too."""
    monkeypatch.setattr("judge.bench.statistics.FEWEST_S", 1e6)


def _time(
    source: str,
    sessions: list[Session],
    *,
    conditions: GpuConditions | None = None,
    progress: list[int] | None = None,
    busy: Callable[[], bool] = lambda: False,
    pack: Pack | None = None,
    until: float = math.inf,
    share_s: float = math.inf,
) -> ProcessTiming:
    pack = pack or twice_pack()
    session = host_factory(_SETTINGS, pack.benchmarks, pack=pack).start()
    sessions.append(session)
    maker = CallMaker(pack, pack.benchmarks[0], seed=5, memory_bytes=64 << 20)
    session.reserve(maker.reservation())
    session.load(build(source))
    verifier = Verifier(maker)
    timer = CaseTimer(
        session,
        maker,
        SecretStream(b"seed"),
        1,
        verifier,
        conditions or GpuConditions(),
        StoppingRule(budget_s=0.1),
        busy=busy,
        share_s=share_s,
        until=until,
    )
    timing = timer.run((progress if progress is not None else []).append)
    if timing.outcome.verdict is Verdict.ACCEPTED and (wrong := verifier.finish_checks()) is not None:
        timing.outcome = wrong
    return timing


def _time_beside(empty: str, sessions: list[Session]) -> ProcessTiming:
    """An honest submission beside this empty one."""
    pack = twice_pack()
    factory = host_factory(_SETTINGS, pack.benchmarks)
    null_kernel = NullKernelProcesses(factory, lambda: build(empty))
    session, beside = factory.start(), null_kernel.start()
    sessions += (session, beside)
    maker = CallMaker(pack, pack.benchmarks[0], seed=5, memory_bytes=64 << 20)
    with ThreadPoolExecutor(1) as pool:
        probe = NullKernelProbe(beside, pool.submit(null_kernel.load, beside, maker.reservation(CALLS)), factory)
        session.reserve(maker.reservation())
        session.load(build(HONEST))
        rule = StoppingRule(budget_s=0.1)
        return CaseTimer(session, maker, SecretStream(b"x"), 1, None, GpuConditions(), rule, probe).run()


def _late(trick: str) -> str:
    """Honest at first, and then a trick."""
    return HONEST.replace("{ for", "{ " + _STATIC + "if (calls > 8) { " + trick + " } for")


def _patched(code: str, source: str = HONEST) -> str:
    return _PYTHON.replace("CODE", code) + source


@pytest.mark.usefixtures("however_busy")
def test_an_honest_submission_has_at_least_the_least_number_of_samples(sessions: list[Session]) -> None:
    progress: list[int] = []
    timing = _time(HONEST, sessions, progress=progress)
    assert timing.outcome.verdict is Verdict.ACCEPTED, timing.outcome
    assert len(timing.samples) == sum(progress) == sum(burst.calls for burst in timing.bursts) >= 50
    assert all(0 < sample < 1 for sample in timing.samples)
    assert timing.stopped_by in ("precise", "plateau", "out of time")
    assert sessions[0].calls > len(timing.samples), "warm-ups and decoys look the same"


def _sleeps(seconds: float) -> str:
    nap = f"timespec t = {{0, {round(seconds * 1e9)}}}; nanosleep(&t, nullptr);"
    return "#include <time.h>\n" + HONEST.replace("{ for", "{ " + nap + " for")


def test_long_calls_count_however_long_the_machine_is_busy(sessions: list[Session]) -> None:
    timing = _time(_sleeps(0.06), sessions, busy=lambda: True)
    assert timing.outcome.verdict is Verdict.ACCEPTED, timing.outcome
    assert timing.samples


def test_long_calls_are_made_one_by_one_and_only_a_few_of_them(sessions: list[Session]) -> None:
    timing = _time(_sleeps(0.7), sessions)
    assert timing.outcome.verdict is Verdict.ACCEPTED, timing.outcome
    assert [burst.calls for burst in timing.bursts] == [1, 1, 1]
    assert sessions[0].calls == 4, "one to warm up"


def test_what_cannot_be_timed_in_its_time_is_told_so(sessions: list[Session]) -> None:
    timing = _time(_sleeps(0.1), sessions, until=time.monotonic())
    assert timing.outcome.verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert "in the 30 s that there are for it" in timing.outcome.message
    assert sessions[0].calls == 1


@pytest.mark.usefixtures("however_busy")
def test_a_process_makes_no_further_burst_once_its_share_of_the_time_is_over(sessions: list[Session]) -> None:
    timing = _time(HONEST, sessions, share_s=0.0)
    assert timing.outcome.verdict is Verdict.ACCEPTED, timing.outcome
    assert timing.stopped_by == "out of time"
    assert len(timing.bursts) == 1


@pytest.mark.usefixtures("however_busy")
def test_no_call_counts_while_the_machine_is_busy_with_earlier_processes(sessions: list[Session]) -> None:
    made_when_idle: list[int] = []

    def busy() -> bool:
        over = sessions[0].calls >= 300
        if over:
            made_when_idle.append(sessions[0].calls)
        return not over

    progress: list[int] = []
    timing = _time(HONEST, sessions, busy=busy, progress=progress)
    assert timing.outcome.verdict is Verdict.ACCEPTED, timing.outcome
    assert made_when_idle[0] + len(timing.samples) <= sessions[0].calls
    assert len(timing.samples) == sum(progress) >= 50


def test_outputs_are_checked_once_no_more_calls_are_made(
    sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    class Noting(Verifier):
        def start_checks(self) -> None:
            made.append(sessions[0].calls)
            super().start_checks()

    monkeypatch.setattr(f"{__name__}.Verifier", Noting)
    # Of every burst, the last one too.
    monkeypatch.setattr("judge.bench.timing.case_timer.opened_call_count", lambda _bytes: None)
    timing = _time(HONEST, sessions)
    assert timing.outcome.verdict is Verdict.ACCEPTED, timing.outcome
    assert len(made) > 1, "the last time is when all is over"
    assert set(made) == {sessions[0].calls}


def test_checks_end_when_a_call_cannot_be_opened(sessions: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    over: list[Future[Outcome | None]] = []

    class Noting(Verifier):
        def discard(self) -> None:
            over.extend(self._checks)
            super().discard()
            assert all(check.done() for check in over)

    def open_call(session: Session, call: int, opens: Callable[[Session, int], None] = Session.open_call) -> None:
        if begun:
            raise InternalError("it cannot be opened")
        opens(session, call)

    begun: list[bool] = []
    start = Verifier.start_checks
    monkeypatch.setattr(Noting, "start_checks", lambda self: (start(self), begun.append(True)))
    monkeypatch.setattr(f"{__name__}.Verifier", Noting)
    monkeypatch.setattr(Session, "open_call", open_call)
    monkeypatch.setattr("judge.bench.timing.case_timer.opened_call_count", lambda _bytes: None)
    with pytest.raises(InternalError, match="cannot be opened"):
        _time(HONEST, sessions)
    assert over, "some had been begun"


def test_the_null_kernel_is_sampled_after_each_burst_that_counts(sessions: list[Session]) -> None:
    timing = _time_beside(EMPTY, sessions)
    assert timing.outcome.verdict is Verdict.ACCEPTED
    samples = [burst.null_calls for burst in timing.bursts]
    assert all(each is not None and len(each.claims_s) == len(each.overhead_s) == 3 for each in samples)
    assert sessions[1].calls == 5 * len(timing.bursts)
    read = [claim_s for each in samples if each is not None for claim_s in each.claims_s]
    assert statistics.median(read) < statistics.median(timing.samples)


def test_the_null_kernel_process_outlives_submissions(sessions: list[Session]) -> None:
    factory = host_factory(_SETTINGS, twice_pack().benchmarks)
    hurried = dataclasses.replace(factory, bounds=dataclasses.replace(factory.bounds, total_s=0.0))
    null_kernel = NullKernelProcesses(hurried, lambda: build(EMPTY))
    beside = null_kernel.start()
    sessions.append(beside)
    with ThreadPoolExecutor(1) as pool:
        maker = CallMaker(twice_pack(), twice_pack().benchmarks[0], seed=5, memory_bytes=64 << 20)
        probe = NullKernelProbe(beside, pool.submit(null_kernel.load, beside, maker.reservation(CALLS)), factory)
        probe.prepare(maker)
    assert len(probe.sample().claims_s) == 3


@pytest.mark.parametrize("begin", ["", "__attribute__((constructor)) "], ids=["called", "loaded"])
def test_an_error_of_the_null_kernel_is_an_internal_error(begin: str, sessions: list[Session]) -> None:
    trap = f"{begin}static void trap() {{ __builtin_trap(); }}\n"
    with pytest.raises(InternalError, match="an empty solve could not be timed"):
        _time_beside(trap + EMPTY.replace("{ for", "{ trap(); for"), sessions)


_CACHES = """
    static float* kept; static float first[8];
    if (kept && !__builtin_memcmp(first, in, sizeof first)) { for (int i = 0; i < n; i++) out[i] = kept[i]; return; }
    if (!kept) kept = new float[1000000];
    __builtin_memcpy(first, in, sizeof first);
    for (int i = 0; i < n; i++) kept[i] = 2 * in[i];
"""


@pytest.mark.parametrize(
    "trick",
    [
        "return;",
        "n = n / 10 * 9;",
        "static float* kept; if (!kept) { kept = new float[n]; for (int i = 0; i < n; i++) kept[i] = 2 * in[i]; }"
        " for (int i = 0; i < n; i++) out[i] = kept[i]; return;",
        _CACHES,
    ],
    ids=["does_nothing", "skips_a_tenth", "replays", "knows_inputs_by_their_beginning"],
)
def test_what_a_timed_call_did_not_compute_is_a_wrong_answer(trick: str, sessions: list[Session]) -> None:
    # So small that every call is looked at, however few a busy machine makes.
    timing = _time(_late(trick), sessions, pack=pack_like_twice(("axes = { N = 500000 }", "axes = { N = 100000 }")))
    assert timing.outcome.verdict is Verdict.WRONG_ANSWER
    assert timing.outcome.mismatch is not None
    assert timing.outcome.message


@pytest.mark.parametrize(
    ("trick", "message"),
    [
        ("out[n] = 1;", "wrote outside its buffer output, after its end"),
        ("out[-1] = 1;", "wrote outside its buffer output, before its start"),
        ("const_cast<float*>(in)[n / 2] = 7;", "changed its input"),
        # Decoys have other sizes.
        ("n = 500000;", "wrote outside its buffer output, after its end"),
    ],
)
def test_damage_done_by_a_timed_call_is_seen(trick: str, message: str, sessions: list[Session]) -> None:
    timing = _time(_late(trick), sessions)
    assert timing.outcome.verdict is Verdict.RUNTIME_ERROR
    assert message in timing.outcome.message


def test_a_crash_in_a_timed_call_ends_the_timing(sessions: list[Session]) -> None:
    with pytest.raises(RunnerEnded):
        _time(_late("__builtin_trap();"), sessions)


def test_outputs_made_only_when_they_are_opened_are_not_those_committed(sessions: list[Session]) -> None:
    code = """
import tests.host_device.device as device
read = device.HostDevice.read
def late(self, buffer, target):
    import ctypes
    ctypes.memset(buffer.address, 0, 4)
    read(self, buffer, target)
device.HostDevice.read = late
"""
    timing = _time(_patched(code), sessions)
    assert timing.outcome.verdict is Verdict.SECURITY_VIOLATION
    assert "committed" in timing.outcome.message


@pytest.mark.parametrize(
    ("factor", "message"), [("0", "less than an empty one"), ("1e9", "it was over after"), ("float('nan')", "less")]
)
def test_an_impossible_time_is_not_trusted(factor: str, message: str, sessions: list[Session]) -> None:
    code = f"""
import tests.host_device.device as device
honest = device.HostDevice.time_call
device.HostDevice.time_call = lambda self, call: {factor} * honest(self, call)
"""
    timing = _time(_patched(code), sessions)
    assert timing.outcome.verdict is Verdict.TIMING_NOT_TRUSTED
    assert message in timing.outcome.message


@pytest.mark.usefixtures("however_busy")
def test_bursts_under_throttling_do_not_count_and_are_made_again(sessions: list[Session]) -> None:
    pauses: list[float] = []
    hot = GpuState(throttled_by=("hardware thermal slowdown",), temperature_c=95)
    # Two readings per burst.
    conditions = GpuConditions(FakeGpuWatch([hot, GpuState(sm_mhz=1980), hot, GpuState(sm_mhz=1755)]), pauses.append)
    timing = _time(HONEST, sessions, conditions=conditions)
    assert timing.outcome.verdict is Verdict.ACCEPTED
    assert len(timing.samples) >= 50
    assert conditions.dropped == len(pauses) == 2
    assert conditions.summary().sm_mhz == (1755, 1980)


def test_a_gpu_that_stays_throttled_is_an_internal_error(sessions: list[Session]) -> None:
    watch = FakeGpuWatch([GpuState(throttled_by=("power brake",), temperature_c=80)])
    pauses: list[float] = []
    with pytest.raises(InternalError, match=r"stays throttled \(power brake at 80 °C\)"):
        _time(HONEST, sessions, conditions=GpuConditions(watch, pauses.append))
    assert len(pauses) == MAX_DROPPED_BURSTS
