"""Sets up timing for one pack on one device, and times submissions in turns.

If a claim is doubted, everything is measured again, the null kernel included, so that an hour-old baseline or a busy
minute costs nobody their verdict. A slight contradiction that remains costs time. A greater one is the machine's fault
where all its processors were busy. If the processes of a trial differ by much, new ones are timed once.
"""

from __future__ import annotations

import contextlib
import functools
import math
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from judge.bench.background import Background
from judge.bench.conditions import GpuConditions, HostLoad, processor_for_timing, reserved_processors
from judge.bench.measurement import TimedCase, fingerprint, measured_score
from judge.bench.plausibility import Roofline
from judge.bench.statistics import PROCESSES
from judge.bench.timed_calls import timed_calls
from judge.bench.timing.ahead import TimingAhead
from judge.bench.timing.case_timer import HOLD_S
from judge.bench.timing.clock_bound import Burst
from judge.bench.timing.null_kernel import CALLS, NullBaselines, NullKernelProbe, NullKernelProcesses
from judge.bench.timing.sampling import SecretStream
from judge.bench.timing.trial import Bench, CaseResult, Progress, Trial, finish_after
from judge.compile.artifact import Artifact
from judge.errors import InternalError
from judge.gpu.calibration import load_calibration
from judge.gpu.nvml import GpuWatch, watch_device
from judge.judgement import DeviceInfo
from judge.measurements import Fingerprint, Measurement
from judge.native import build as native
from judge.packs.pack import Case, Pack
from judge.sandbox.real_time import real_time_thread
from judge.settings import JudgeSettings
from judge.supervisor.factory import SessionFactory
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import Session
from judge.supervisor.verdict_rules import outcome_of_ending, outcome_of_refusal

#: A submission is timed up to this often before a doubt becomes its verdict.
_ATTEMPTS = 3
#: Processes that are up at a time.
_READY = 6

Watcher = Callable[[DeviceInfo], GpuWatch | None]


@dataclass(frozen=True, slots=True)
class SubmissionTimer:
    """Times submissions of one pack on one device, which nobody else uses meanwhile."""

    bench: Bench
    baselines: NullBaselines

    def time(
        self,
        artifacts: Sequence[Artifact],
        progress: Progress = lambda _case, _calls: None,
        between: Callable[[], None] = lambda: None,
        *,
        far_s: float = math.inf,
    ) -> list[tuple[list[CaseResult], Measurement | None]]:
        """Times submissions in turns. Raises InternalError and Cancelled.

        Returns, for each, the case results up to the first that is not accepted, and the score if all are. ``between``
        is called when each had its turn: what it times alternates with them. What takes longer than ``far_s`` is
        timed less precisely (``Trial``).
        """
        found = run_trials(self.bench, self.baselines, artifacts, progress, between, far_s=far_s)
        return [
            (results, self._measurement(artifact, results)) for artifact, results in zip(artifacts, found, strict=True)
        ]

    def _measurement(self, artifact: Artifact, results: Sequence[CaseResult]) -> Measurement | None:
        timed: list[TimedCase] = [result.timed for result in results if result.timed is not None]
        if len(timed) < len(self.bench.cases):
            return None
        return measured_score(self.bench.pack, timed, fingerprint=self._fingerprint(artifact))

    def _fingerprint(self, artifact: Artifact) -> Fingerprint:
        roofline, seen = self.bench.roofline, self.bench.conditions.summary()
        return fingerprint(self.bench.pack, artifact, roofline.device, roofline.calibration, seen)


@contextlib.contextmanager
def open_timer(
    pack: Pack,
    cases: Sequence[Case],
    device: DeviceInfo,
    settings: JudgeSettings,
    factory: SessionFactory,
    seed: int,
    *,
    build_null_kernel: Callable[[], Artifact],
    open_watch: Watcher = watch_device,
    ahead: TimingAhead | None = None,
) -> Iterator[SubmissionTimer]:
    """Yields a timer and leaves no process behind.

    ``build_null_kernel`` builds a ``solve`` that does nothing; ``ahead``, which stays the caller's, is what was begun
    before.
    """
    # Gigabytes are checked afterwards, for which the native library has to be ready.
    native.prepare(settings.data_dir)
    with contextlib.ExitStack() as stack:
        watch = open_watch(device)
        if watch is not None:
            stack.callback(watch.close)
        stack.enter_context(timed_calls(settings.locks, cancelled=factory.cancelled))
        watched = None if ahead is None else ahead.load
        processor = stack.enter_context(processor_for_timing(settings.locks, load=watched))
        if processor is not None:
            factory = factory.at(processor)
            # Those of other GPUs' judgements, too: their processes cannot go elsewhere.
            stack.enter_context(real_time_thread(away_from={processor, *reserved_processors(settings.locks)}))
        background = Background()
        stack.callback(background.close)
        build = functools.cache(build_null_kernel)
        bench = Bench(
            pack=pack,
            cases=tuple(cases),
            factory=factory,
            null_kernel=NullKernelProcesses(factory, build),
            roofline=Roofline(pack, device, load_calibration(settings, device)),
            conditions=GpuConditions(watch),
            # A submission is kept to its processor then, and cannot make the others busy.
            load=HostLoad() if processor is not None else None,
            background=background,
            stream=SecretStream(secrets.token_bytes(32)),
            seed=seed,
            ahead=ahead,
            precision=settings.precision,
        )
        yield SubmissionTimer(bench, kept_baselines(pack, device, settings, bench.time_null_kernel))


def kept_baselines(
    pack: Pack,
    device: DeviceInfo,
    settings: JudgeSettings,
    measure: Callable[[Case], Sequence[Sequence[Burst]]] = lambda _: (),
) -> NullBaselines:
    """Returns the null kernel's baselines that this machine keeps; ``measure`` is called where one is lacking."""
    return NullBaselines(pack, device, settings.data_dir / "empty-solve", measure)


def run_trials(
    bench: Bench,
    baselines: NullBaselines,
    artifacts: Sequence[Artifact],
    progress: Progress = lambda _case, _calls: None,
    between: Callable[[], None] = lambda: None,
    *,
    far_s: float = math.inf,
) -> list[list[CaseResult]]:
    """Times submissions in turns (A B A B A B) and returns the case results of each.

    ``between`` is called three times, when each had its turn. ``far_s`` as in ``SubmissionTimer.time``.

    Raises InternalError if the machine is at fault, and Cancelled.
    """
    for case in bench.cases:
        baselines.of(case)
    # The baselines are the machine's; from here on it is these submissions that hold the GPU.
    begun = time.monotonic()
    until = begun + HOLD_S * len(artifacts)
    trials = [Trial(bench, baselines, artifact, progress, until, far_s) for artifact in artifacts]
    time_processes(bench, baselines, trials, between)
    taken_s = (time.monotonic() - begun) / len(artifacts)
    return [_judge(bench, baselines, trial, until - taken_s) for trial in trials]


def _judge(bench: Bench, baselines: NullBaselines, trial: Trial, latest: float) -> list[CaseResult]:
    """Returns the results of a trial that was timed. It is timed again until ``latest``, by ``time.monotonic``.

    Raises InternalError if a doubt remains while all processors are busy.
    """
    doubts = {} if trial.failed else trial.doubts()
    for attempt in range(1, _ATTEMPTS):
        if trial.failed or not (doubts or (attempt == 1 and trial.is_unsteady())) or time.monotonic() > latest:
            break
        for case in bench.cases if doubts else ():
            baselines.measure_again(case)
        trial.discard_processes()
        time_processes(bench, baselines, [trial])
        doubts = {} if trial.failed else trial.doubts()
    if bench.load is not None and bench.load.is_heavy and any(doubt.least_s is None for doubt in doubts.values()):
        raise InternalError(
            f"all processors were busy, {bench.load.busy_share:.0%} of the time: no time taken now would mean anything",
            "run less beside the worker, or let it schedule what it times in real time: see gpujudge doctor",
        )
    return trial.results(doubts)


def time_processes(
    bench: Bench, baselines: NullBaselines, trials: Sequence[Trial], between: Callable[[], None] = lambda: None
) -> None:
    """Times three processes of each trial in turns, beside one null kernel process, and waits for all checks.

    ``between`` is called when each trial had its turn.

    The processes of the next few turns are up and have reserved their memory before the first burst of these turns:
    starting one loads the processor and the GPU, and no submission must take what another process needs. Raises
    InternalError and Cancelled.
    """
    turns = list(trials) * PROCESSES
    bench.background.wait()
    session = bench.start_null_session()
    loading = bench.background.submit(functools.partial(bench.null_kernel.load, session, bench.reservation(CALLS)))
    probe = NullKernelProbe(session, loading, bench.factory)
    try:
        for start in range(0, len(turns), _READY):
            if start:
                bench.background.wait()
            for trial in _take_turns(bench, baselines, turns[start : start + _READY], probe):
                if trial is trials[-1]:
                    between()
        bench.background.start_deferred()
        for trial in trials:
            trial.await_checks()
    finally:
        bench.background.start_deferred()
        bench.background.submit(functools.partial(finish_after, session, [loading]))


def _take_turns(
    bench: Bench, baselines: NullBaselines, turns: Sequence[Trial], probe: NullKernelProbe
) -> Iterator[Trial]:
    """Yields each trial once its process was timed."""
    waiting: list[Session] = []
    try:
        for _ in turns:
            waiting.append(bench.start_session())
        _make_all_ready(bench, waiting)
        probe.wait_until_loaded()
        if bench.oracle is not None:
            bench.oracle.settle()
        for case in bench.cases:
            baselines.confirm(case, functools.partial(probe.bursts, bench.maker(case)))
        for trial in turns:
            session = waiting.pop(0)
            if trial.failed:
                bench.background.submit(session.finish)
            else:
                trial.time_process(session, probe)
            yield trial
    finally:
        for session in waiting:
            session.finish()


def _make_all_ready(bench: Bench, sessions: Sequence[Session]) -> None:
    with ThreadPoolExecutor(len(sessions), thread_name_prefix="reserve") as pool:
        list(pool.map(functools.partial(_make_ready, bench), sessions))


def _make_ready(bench: Bench, session: Session) -> None:
    try:
        session.reserve(bench.reservation())
    except RunnerEnded as ended:
        outcome_of_ending(ended.ending, bench.pack.limits.wall_s)
        raise
    except RequestRefused as refused:
        outcome_of_refusal(refused.reply, session.last_op, session.calls)
        raise
