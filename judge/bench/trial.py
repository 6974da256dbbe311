"""Times submissions in fresh processes, and says of each what came of it.

A trial is one submission's: three processes, in each all benchmark cases; then its claims are held against the
supervisor's clock and against what the device can do. A doubt has everything measured again, the empty solve included,
so that an hour-old line or a busy minute costs nobody his verdict; where the processes differ by much, new ones are
timed once. What a process leaves is looked at, and the process ended, while the next one warms up.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any

from judge.bench.background import Background
from judge.bench.calls import CallMaker
from judge.bench.clock_bound import Burst, doubt_claim, see
from judge.bench.conditions import Conditions
from judge.bench.empty_solve import EmptySolve
from judge.bench.measurement import TimedCase, score_interval
from judge.bench.plausibility import why_time_not_believed
from judge.bench.protocol import CaseTimer, ProcessTiming
from judge.bench.roofline import Roofline
from judge.bench.statistics import PROCESSES
from judge.bench.stopping import StoppingRule
from judge.bench.stream import SecretStream
from judge.bench.twin import EmptyProcesses, Twin, errors_of_the_machine
from judge.bench.verification import Verifier
from judge.errors import InternalError
from judge.packs.pack import Case, Pack
from judge.supervisor.factory import SessionFactory
from judge.supervisor.outcome import Outcome, outcome_of_ending, outcome_of_refusal
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import Session
from judge.verdict import Verdict

#: Contents of a process are numbered from here on; those of another from the same number on later.
_CALLS_A_PROCESS = 1_000_000
_ATTEMPTS = 3
#: An interval wider than this to either side, of the score and in seconds, says that the machine did something else for
#: some of the processes.
_UNSTEADY_RELATIVE, _UNSTEADY_S = 0.04, 0.5e-6
#: Processes that are up at a time.
_READY = 6

Heard = Callable[[Case, int], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """What the trials of one pack on one device share. ``empty`` makes processes whose ``solve`` does nothing,
    ``background`` ends processes, ``stream`` is secret, and ``seed`` decides the contents."""

    pack: Pack
    cases: tuple[Case, ...]
    factory: SessionFactory
    empty: EmptyProcesses
    roofline: Roofline
    conditions: Conditions
    background: Background
    stream: SecretStream
    seed: int

    def maker(self, case: Case) -> CallMaker:
        memory_bytes = int(self.roofline.device.details.get("memory_bytes") or 0)
        return CallMaker(self.pack, case, self.seed, memory_bytes)

    @property
    def opened_bytes(self) -> int:
        """The most shared memory that an opened call takes."""
        return max(self.maker(case).opened_bytes for case in self.cases)

    def rule(self) -> StoppingRule:
        """For one process and one case: its share of the pack's time."""
        return StoppingRule(budget_s=self.pack.budget_s / PROCESSES / len(self.cases))

    def time_empty(self, case: Case) -> list[list[Burst]]:
        """The bursts of several empty processes. Raises InternalError where they cannot be timed."""
        sessions: list[Session] = []
        try:
            sessions += (self.empty.start() for _ in range(PROCESSES))
            with errors_of_the_machine(self.factory):
                for session in sessions:
                    session.wait_until_ready()
                return [self._time_empty(session, case, number) for number, session in enumerate(sessions)]
        finally:
            for session in sessions:
                session.finish()

    def _time_empty(self, session: Session, case: Case, number: int) -> list[Burst]:
        self.empty.load(session)
        stream = self.stream.child(f"empty {number}")
        timing = CaseTimer(
            session, self.maker(case), stream, 0, None, self.conditions, self.rule(), busy=self.background.busy
        ).run()
        # As a submission's, it is gone before the next one is timed.
        session.finish()
        if timing.outcome.verdict is not Verdict.ACCEPTED:
            raise InternalError(f"an empty solve could not be timed: {timing.outcome.message}")
        return timing.bursts


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of one case: ``timed`` where the outcome is AC."""

    case: Case
    outcome: Outcome
    wall_s: float
    timed: TimedCase | None


class Trial:
    """One submission's. What a call of the empty solve reads is taken off its times. ``heard`` is told of calls that
    count, case by case."""

    def __init__(
        self, bench: Bench, empty: EmptySolve, library: bytes, heard: Heard = lambda _case, _calls: None
    ) -> None:
        self._bench = bench
        self._empty = empty
        self._library = library
        self._heard = heard
        # No two trials draw alike.
        self._stream = bench.stream.child(f"trial {bench.stream.getrandbits(128)}")
        self._verifiers = {case.id: Verifier(bench.maker(case), bench.factory.cancelled) for case in bench.cases}
        self._timings: dict[str, list[ProcessTiming]] = {case.id: [] for case in bench.cases}
        self._clock: dict[str, dict[str, float]] = {}
        self._failed: tuple[Case, Outcome, float] | None = None
        self._processes = 0
        self._looks: dict[str, list[Future[Outcome | None]]] = {case.id: [] for case in bench.cases}
        self._sessions: list[Session] = []

    @property
    def failed(self) -> bool:
        """Whether the verdict is decided already."""
        return self._failed is not None

    def time_process(self, session: Session, twin: Twin) -> None:
        """Times every case in a session that nobody has used, and has it ended. Raises InternalError and Cancelled."""
        case, background = self._bench.cases[0], self._bench.background
        number = self._processes
        self._processes += 1
        try:
            # What is opened later would wait for hundreds of megabytes of new memory.
            background.submit(functools.partial(session.runner.outputs.populate, self._bench.opened_bytes))
            session.load(self._library)
            for case in self._bench.cases:
                # What went before is looked at and ended while this warms up: beside it loading took 25 ms, not 4.
                background.begin()
                timing = self._time_case(session, twin, case, number)
                if timing.outcome.verdict is not Verdict.ACCEPTED:
                    self._failed = case, timing.outcome, timing.wall_s
                    return
                self._timings[case.id].append(timing)
                self._looks[case.id].append(background.put_off(self._verifiers[case.id].check))
        except RunnerEnded as ended:
            self._failed = case, outcome_of_ending(ended.ending, self._bench.pack.limits.wall_s), 0.0
        except RequestRefused as refused:
            outcome = outcome_of_refusal(refused.reply, session.last_op, session.calls, had_room=session.had_room)
            self._failed = case, outcome, 0.0
        finally:
            self._sessions.append(session)
            looks = [look for case in self._bench.cases for look in self._looks[case.id]]
            background.put_off(functools.partial(_end, session, looks))

    def look_at_outputs(self) -> None:
        """Waits until all that the processes left has been looked at. Raises Cancelled."""
        if self.failed:
            return
        for case in self._bench.cases:
            for look in self._looks[case.id]:
                if (outcome := look.result()) is not None:
                    self._failed = case, outcome, 0.0
                    return
        if any(session.runner.flooded for session in self._sessions):
            outcome = Outcome(Verdict.OUTPUT_LIMIT_EXCEEDED, "it printed more than is allowed")
            self._failed = self._bench.cases[-1], outcome, 0.0

    def start_again(self) -> None:
        """Forgets the processes so far."""
        self._sessions.clear()
        for looks in self._looks.values():
            looks.clear()
        for timings in self._timings.values():
            timings.clear()

    def is_unsteady(self) -> bool:
        """Whether the processes differ by much more than those of most submissions."""
        found = score_interval([self._timed(case) for case in self._bench.cases])
        return found.high - found.value > max(_UNSTEADY_RELATIVE * found.value, _UNSTEADY_S)

    def doubts(self) -> dict[str, str]:
        """The cases whose times are not believed, with the reason in words."""
        doubts = {}
        for case in self._bench.cases:
            empty = self._empty.of(case)
            value = self._timed(case).value
            seen = see([timing.bursts for timing in self._timings[case.id]], value, empty)
            self._clock[case.id] = {
                "clock_s": seen.by_call_s,
                "clock_by_slope_s": seen.by_slope_s,
                "clock_in_all_s": seen.in_all_s,
                "around_s": empty.line.each_s,
            }
            doubt = doubt_claim(value, seen)
            roofline = self._bench.roofline
            reason = str(doubt) if doubt is not None else why_time_not_believed(
                value, roofline.floor_s(case), measured=roofline.calibration is not None
            )  # fmt: skip
            if reason:
                doubts[case.id] = reason
        return doubts

    def results(self, doubts: dict[str, str]) -> list[CaseResult]:
        """One a case, up to the first that is not accepted."""
        results = []
        for case in self._bench.cases:
            wall_s = sum(timing.wall_s for timing in self._timings[case.id])
            outcome, timed = Outcome(Verdict.ACCEPTED), None
            if self._failed is not None and self._failed[0] is case:
                outcome, wall_s = self._failed[1], wall_s + self._failed[2]
            elif case.id in doubts:
                outcome = Outcome(Verdict.TIMING_NOT_TRUSTED, doubts[case.id])
            elif self._failed is None:
                timed = self._timed(case)
            results.append(CaseResult(case, outcome, wall_s, timed))
            if outcome.verdict is not Verdict.ACCEPTED:
                break
        return results

    def _time_case(self, session: Session, twin: Twin, case: Case, number: int) -> ProcessTiming:
        bench = self._bench
        verifier = self._verifiers[case.id]
        timer = CaseTimer(
            session, bench.maker(case), self._stream.child(f"{case.id} {number}"), 1 + number * _CALLS_A_PROCESS,
            verifier, bench.conditions, bench.rule(), twin, bench.background.busy,
        )  # fmt: skip
        return timer.run(lambda calls: self._heard(case, calls))

    def _timed(self, case: Case) -> TimedCase:
        timings = self._timings[case.id]
        details = {
            "stopped_by": [timing.stopped_by for timing in timings],
            "opened": self._verifiers[case.id].checked,
            **self._clock.get(case.id, {}),
        }
        nothing_s = self._empty.of(case).claim_s
        processes = tuple(tuple(claim_s - nothing_s for claim_s in timing.samples) for timing in timings)
        return TimedCase(case, processes, self._bench.roofline.least_s(case), details)


def run_trials(
    bench: Bench, empty: EmptySolve, libraries: Sequence[bytes], heard: Heard = lambda _case, _calls: None
) -> list[list[CaseResult]]:
    """Times submissions, taking turns (A B A B A B), and says what came of each.

    Raises InternalError where the machine is to blame, and Cancelled.
    """
    for case in bench.cases:
        empty.of(case)
    trials = [Trial(bench, empty, library, heard) for library in libraries]
    time_processes(bench, trials)
    return [_judge(bench, empty, trial) for trial in trials]


def _judge(bench: Bench, empty: EmptySolve, trial: Trial) -> list[CaseResult]:
    doubts = {} if trial.failed else trial.doubts()
    for attempt in range(1, _ATTEMPTS):
        if trial.failed or not (doubts or (attempt == 1 and trial.is_unsteady())):
            break
        for case in bench.cases if doubts else ():
            empty.measure_again(case)
        trial.start_again()
        time_processes(bench, [trial])
        doubts = {} if trial.failed else trial.doubts()
    return trial.results(doubts)


def time_processes(bench: Bench, trials: Sequence[Trial]) -> None:
    """PROCESSES of each, taking turns, beside one empty process; then their outputs have been looked at. Those of the
    next few turns are up before the first burst of them: bringing one up loads the processor and the GPU. Raises
    InternalError and Cancelled."""
    turns = list(trials) * PROCESSES
    beside = bench.empty.start()
    loading = bench.background.submit(functools.partial(bench.empty.load, beside))
    twin = Twin(beside, loading, bench.factory)
    try:
        for start in range(0, len(turns), _READY):
            _take_turns(bench, turns[start : start + _READY], twin)
        bench.background.begin()
        for trial in trials:
            trial.look_at_outputs()
    finally:
        bench.background.begin()
        bench.background.submit(functools.partial(_end, beside, [loading]))


def _take_turns(bench: Bench, turns: Sequence[Trial], twin: Twin) -> None:
    waiting: list[Session] = []
    try:
        for _ in turns:
            waiting.append(bench.factory.start())
        for session in waiting:
            _wait_until_ready(bench, session)
        for trial in turns:
            session = waiting.pop(0)
            if trial.failed:
                bench.background.submit(session.finish)
            else:
                trial.time_process(session, twin)
    finally:
        for session in waiting:
            session.finish()


def _end(session: Session, others: Sequence[Future[Any]]) -> None:
    """When these are over. Looks at its outputs would wait for its memory to be let go of."""
    wait(others)
    session.finish()


def _wait_until_ready(bench: Bench, session: Session) -> None:
    try:
        session.wait_until_ready()
    except RunnerEnded as ended:
        outcome_of_ending(ended.ending, bench.pack.limits.wall_s)
        raise
    except RequestRefused as refused:
        outcome_of_refusal(refused.reply, session.last_op, session.calls)
        raise
