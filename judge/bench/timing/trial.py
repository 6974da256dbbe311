"""Times one submission in fresh processes and checks its claims.

A trial times all benchmark cases in each of three processes. Its claims are then compared with the supervisor's clock
and with what the device can do. Outputs are checked, and a process is ended, while the next process warms up.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any

from judge.bench.background import Background
from judge.bench.conditions import GpuConditions, HostLoad
from judge.bench.measurement import TimedCase, score_interval
from judge.bench.oracle.oracle import Oracle
from judge.bench.plausibility import Roofline, why_time_implausible
from judge.bench.statistics import FAR_PRECISION, PROCESSES, Effort, StoppingRule, median_interval
from judge.bench.timing.ahead import TimingAhead
from judge.bench.timing.call_maker import CallMaker, NullCallMaker, reservation
from judge.bench.timing.case_timer import HOLD_S, CaseTimer, ProcessTiming
from judge.bench.timing.clock_bound import Burst, estimate_call_time, find_contradiction, in_words
from judge.bench.timing.null_kernel import (
    NullBaselines,
    NullKernelProbe,
    NullKernelProcesses,
    as_internal_errors,
    null_kernel_factory,
)
from judge.bench.timing.sampling import SecretStream
from judge.bench.timing.schedule import WARM_UP_OF_BUSY_S, WARM_UP_S
from judge.bench.timing.verification import Verifier
from judge.compile.artifact import Artifact
from judge.errors import InternalError
from judge.packs.isolation.shared_array import SharedRooms
from judge.packs.pack import Case, Pack
from judge.supervisor.factory import SessionFactory
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import Session
from judge.supervisor.verdict_rules import FLOODED, Outcome, outcome_of_ending, outcome_of_refusal
from judge.verdict import Verdict
from judge.wire.bursts import ReserveRequest

#: By how much the input numbers of two processes differ, so that they share none.
_CALLS_PER_PROCESS = 1_000_000
#: Half-widths above which an interval shows that the machine did something else during some of the processes: as a
#: share of the score and in seconds; both must be exceeded.
_UNSTEADY_RELATIVE, _UNSTEADY_S = 0.04, 0.5e-6

#: Receives a case and how many more of its calls count.
Progress = Callable[[Case, int], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """The resources that the trials of one pack on one device share.

    ``null_kernel`` starts processes with the null kernel, ``background`` ends processes, ``stream`` is secret, and
    ``seed`` decides the inputs. ``load`` is the host's since the timing began, where no submission can cause it.
    ``ahead`` is what was begun before the timing. ``precision`` is that of the settings.
    """

    pack: Pack
    cases: tuple[Case, ...]
    factory: SessionFactory
    null_kernel: NullKernelProcesses
    roofline: Roofline
    conditions: GpuConditions
    background: Background
    stream: SecretStream
    seed: int
    load: HostLoad | None = None
    ahead: TimingAhead | None = None
    precision: float | None = None

    def start_session(self) -> Session:
        """Returns a session for a submission, which may have been started ahead."""
        return self.factory.start() if self.ahead is None else self.ahead.take(self.factory)

    def start_null_session(self) -> Session:
        """Returns a session for the null kernel beside the submissions likewise."""
        if self.ahead is None:
            return self.null_kernel.start()
        return self.ahead.take_null(null_kernel_factory(self.factory))

    @property
    def rooms(self) -> SharedRooms | None:
        """Memory that was made ahead for the outputs of opened calls."""
        return None if self.ahead is None else self.ahead.rooms

    @property
    def oracle(self) -> Oracle | None:
        """The process that checks outputs on the GPU, where there is one."""
        return None if self.ahead is None else self.ahead.oracle

    def maker(self, case: Case) -> CallMaker:
        memory_bytes = int(self.roofline.device.details.get("memory_bytes") or 0)
        return CallMaker(self.pack, case, self.seed, memory_bytes)

    @property
    def opened_bytes(self) -> int:
        """The most shared memory that an opened call takes."""
        return max(self.maker(case).opened_bytes for case in self.cases)

    def reservation(self, max_calls: int | None = None) -> ReserveRequest:
        """Returns the device memory that a timed process takes, for all cases."""
        return reservation([self.maker(case) for case in self.cases], max_calls)

    def rule(self, *, is_far: bool = False) -> StoppingRule:
        """Returns the stopping rule of one process and one case, with its share of the pack's time budget.

        A submission that ``is_far`` behind is timed no better than FAR_PRECISION.
        """
        budget_s = self.pack.bench.budget_s / PROCESSES / len(self.cases)
        precision = max(self.precision or 0.0, FAR_PRECISION) if is_far else self.precision
        return StoppingRule(budget_s, Effort.for_precision(precision))

    @property
    def share_s(self) -> float:
        """The share of one process and one case in the time for which a judgement may hold the GPU, in seconds."""
        return HOLD_S / PROCESSES / len(self.cases)

    def time_null_kernel(self, case: Case) -> list[list[Burst]]:
        """Returns the bursts of three null kernel processes. Raises InternalError if they cannot be timed."""
        sessions: list[Session] = []
        # A submission's processes may hold the device's memory until they are gone.
        self.background.wait()
        try:
            sessions += (self.null_kernel.start() for _ in range(PROCESSES))
            with as_internal_errors(self.factory):
                for session in sessions:
                    session.wait_until_ready()
                return [self._time_null_process(session, case, number) for number, session in enumerate(sessions)]
        finally:
            for session in sessions:
                session.finish()

    def _time_null_process(self, session: Session, case: Case, number: int) -> list[Burst]:
        self.null_kernel.load(session, self.reservation())
        stream = self.stream.child(f"empty {number}")
        timing = CaseTimer(
            session,
            NullCallMaker.like(self.maker(case)),
            stream,
            0,
            None,
            self.conditions,
            self.rule(),
            busy=self.background.busy,
            share_s=self.share_s,
        ).run()
        # Like a submission's process, it is gone before the next one is timed.
        session.finish()
        if timing.outcome.verdict is not Verdict.ACCEPTED:
            raise InternalError(f"an empty solve could not be timed: {timing.outcome.message}")
        return timing.bursts


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of one case; ``timed`` is set if the outcome is AC."""

    case: Case
    outcome: Outcome
    wall_s: float
    timed: TimedCase | None


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a case's time is not trusted. If ``least_s`` is set, these seconds may count in place of the case's value."""

    reason: str
    least_s: float | None = None


class Trial:
    """Times one submission. The null kernel's claim is subtracted from its times.

    At ``until``, by ``time.monotonic``, the time that all its processes together may take is over. If the first
    process shows that calls take longer than ``far_s``, the others make fewer of them.
    """

    def __init__(
        self,
        bench: Bench,
        baselines: NullBaselines,
        artifact: Artifact,
        progress: Progress = lambda _case, _calls: None,
        until: float = math.inf,
        far_s: float = math.inf,
    ) -> None:
        self._bench = bench
        self._until = until
        self._far_s = far_s
        self._baselines = baselines
        self._artifact = artifact
        self._progress = progress
        # Every trial draws numbers of its own.
        self._stream = bench.stream.child(f"trial {bench.stream.getrandbits(128)}")
        self._verifiers = {
            case.id: Verifier(bench.maker(case), bench.factory.cancelled, oracle=bench.oracle, rooms=bench.rooms)
            for case in bench.cases
        }
        self._timings: dict[str, list[ProcessTiming]] = {case.id: [] for case in bench.cases}
        self._clock: dict[str, dict[str, float]] = {}
        self._failed: tuple[Case, Outcome, float] | None = None
        self._processes = 0
        self._checks: dict[str, list[Future[Outcome | None]]] = {case.id: [] for case in bench.cases}
        self._sessions: list[Session] = []

    @property
    def failed(self) -> bool:
        """Whether the verdict is already decided."""
        return self._failed is not None

    def time_process(self, session: Session, probe: NullKernelProbe) -> None:
        """Times every case in an unused session, then has the session ended. Raises InternalError and Cancelled."""
        case, background = self._bench.cases[0], self._bench.background
        number = self._processes
        self._processes += 1
        try:
            # Otherwise opening calls would wait for hundreds of megabytes of new memory.
            background.submit(functools.partial(session.runner.outputs.populate, self._bench.opened_bytes))
            session.load(self._artifact)
            for case in self._bench.cases:
                # Earlier outputs are checked and earlier processes ended during this warm-up: beside that work loading
                # took 25 ms, not 4.
                background.start_deferred()
                timing = self._time_case(session, probe, case, number)
                if timing.outcome.verdict is not Verdict.ACCEPTED:
                    self._failed = case, timing.outcome, timing.wall_s
                    return
                self._timings[case.id].append(timing)
                self._checks[case.id].append(background.defer(self._verifiers[case.id].finish_checks))
        except RunnerEnded as ended:
            self._failed = case, outcome_of_ending(ended.ending, self._bench.pack.limits.wall_s), 0.0
        except RequestRefused as refused:
            outcome = outcome_of_refusal(refused.reply, session.last_op, session.calls)
            self._failed = case, outcome, 0.0
        finally:
            self._sessions.append(session)
            checks = [check for case in self._bench.cases for check in self._checks[case.id]]
            background.defer(functools.partial(finish_after, session, checks))

    def await_checks(self) -> None:
        """Waits until all opened outputs are checked. Raises Cancelled."""
        if self.failed:
            return
        for case in self._bench.cases:
            for check in self._checks[case.id]:
                if (outcome := check.result()) is not None:
                    self._failed = case, outcome, 0.0
                    return
        if any(session.runner.flooded for session in self._sessions):
            outcome = Outcome(Verdict.OUTPUT_LIMIT_EXCEEDED, FLOODED)
            self._failed = self._bench.cases[-1], outcome, 0.0

    def discard_processes(self) -> None:
        """Discards the results so far, so that new processes can be timed."""
        self._sessions.clear()
        for checks in self._checks.values():
            checks.clear()
        for timings in self._timings.values():
            timings.clear()

    def is_unsteady(self) -> bool:
        """Returns whether the processes differ by much more than those of most submissions."""
        found = score_interval([self._timed(case) for case in self._bench.cases])
        return found.high - found.value > max(_UNSTEADY_RELATIVE * found.value, _UNSTEADY_S)

    def doubts(self) -> dict[str, Doubt]:
        """Returns the doubts by case; cases without doubt are left out."""
        doubts = {}
        for case in self._bench.cases:
            baseline = self._baselines.of(case)
            value = self._timed(case).value
            estimate = estimate_call_time([timing.bursts for timing in self._timings[case.id]], value, baseline)
            self._clock[case.id] = {
                "clock_s": estimate.by_call_s,
                "clock_by_slope_s": estimate.by_slope_s,
                "clock_in_all_s": estimate.in_all_s,
                "around_s": baseline.line.per_call_s,
            }
            roofline = self._bench.roofline
            # What the device cannot do it can do on no machine: the stronger reason comes first.
            reason = why_time_implausible(value, roofline.floor_s(case), measured=roofline.calibration is not None)
            contradiction = find_contradiction(value, estimate)
            if reason:
                doubts[case.id] = Doubt(reason)
            elif contradiction is not None:
                doubts[case.id] = Doubt(str(contradiction), contradiction.least_s if contradiction.is_slight else None)
        return doubts

    def results(self, doubts: dict[str, Doubt]) -> list[CaseResult]:
        """Returns one result per case, up to the first that is not accepted."""
        results = []
        for case in self._bench.cases:
            wall_s = sum(timing.wall_s for timing in self._timings[case.id])
            outcome, timed = Outcome(Verdict.ACCEPTED), None
            if self._failed is not None and self._failed[0] is case:
                outcome, wall_s = self._failed[1], wall_s + self._failed[2]
            elif (doubt := doubts.get(case.id)) is not None:
                outcome, timed = self._doubted(case, doubt)
            elif self._failed is None:
                timed = self._timed(case)
            results.append(CaseResult(case, outcome, wall_s, timed))
            if outcome.verdict is not Verdict.ACCEPTED:
                break
        return results

    def _doubted(self, case: Case, doubt: Doubt) -> tuple[Outcome, TimedCase | None]:
        if doubt.least_s is None:
            return Outcome(Verdict.TIMING_NOT_TRUSTED, doubt.reason), None
        outcome = Outcome(Verdict.ACCEPTED, f"{doubt.reason}; so {in_words(doubt.least_s)} count")
        return outcome, self._timed(case, doubt.least_s)

    def _time_case(self, session: Session, probe: NullKernelProbe, case: Case, number: int) -> ProcessTiming:
        bench = self._bench
        verifier = self._verifiers[case.id]
        timer = CaseTimer(
            session,
            bench.maker(case),
            self._stream.child(f"{case.id} {number}"),
            1 + number * _CALLS_PER_PROCESS,
            verifier,
            bench.conditions,
            bench.rule(is_far=self._is_far(case)),
            probe,
            bench.background.busy,
            share_s=bench.share_s,
            until=self._until,
            warm_up_s=WARM_UP_OF_BUSY_S if number else WARM_UP_S,
            gpu_busy=lambda: bench.oracle is not None and bench.oracle.is_busy,
        )
        return timer.run(lambda calls: self._progress(case, calls))

    def _is_far(self, case: Case) -> bool:
        """Returns whether an earlier process shows that the submission's only benchmark takes longer than ``far_s``."""
        timings = self._timings[case.id]
        return bool(timings) and len(self._bench.cases) == 1 and median_interval(timings[0].samples).low > self._far_s

    def _timed(self, case: Case, least_s: float = 0.0) -> TimedCase:
        """Returns the case's times. If their value is below ``least_s``, all are longer by what it lacks."""
        timings = self._timings[case.id]
        details = {
            "stopped_by": tuple(timing.stopped_by for timing in timings),
            "opened": self._verifiers[case.id].checked,
            **self._clock.get(case.id, {}),
        }
        null_s = self._baselines.of(case).claim_s
        processes = tuple(tuple(claim_s - null_s for claim_s in timing.samples) for timing in timings)
        timed = TimedCase(case, processes, self._bench.roofline.roofline_s(case), details=details)
        lack_s = least_s - timed.value
        if least_s <= 0 or lack_s <= 0:
            return timed
        longer = tuple(tuple(sample_s + lack_s for sample_s in samples) for samples in processes)
        return dataclasses.replace(timed, processes=longer, error=lack_s / least_s)


def finish_after(session: Session, work: Sequence[Future[Any]]) -> None:
    """Ends the session once ``work`` is done: checks of its outputs would have to wait while its memory is freed."""
    wait(work)
    session.finish()
