"""Judges one submission: builds it, runs the cases, scores the benchmarks.

``judge`` does all of it; ``build`` and ``run`` are its halves, for workers with a machine for each. Nothing here knows
of a web, a database or a queue. Where the machine is at fault the verdict is IE, so that the caller can try again.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from enum import StrEnum

from judge.backends.base import Backend
from judge.backends.registry import BUILTIN_BACKENDS, Backends
from judge.backends.scoring import Ahead, Score, Scorer, ScoringJob
from judge.backends.sessions import sessions_for
from judge.backends.untimed import UntimedScorer
from judge.bench.background import Background
from judge.compile.artifact import Artifact
from judge.errors import InternalError
from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement
from judge.languages.base import Language
from judge.languages.registry import BUILTIN_LANGUAGES, Languages
from judge.packs.isolation.client import PROCESSES
from judge.packs.pack import Case, Pack
from judge.settings import JudgeSettings
from judge.supervisor.case_report import with_larger_error_first
from judge.supervisor.case_runner import CaseRunner
from judge.supervisor.factory import SessionFactory
from judge.supervisor.runner_start import EarlyRunners, RunnerEnded
from judge.supervisor.session import Session
from judge.supervisor.verdict_rules import FLOODED, RunnerKilled
from judge.supervisor.warm_pool import WarmPool
from judge.verdict import Verdict, combine_verdicts
from records import dataclass

#: So often everything is judged again because a runner was killed, perhaps from outside.
_MAX_KILLS = 2
#: The precision of the unranked time of a run, which somebody waits for.
_RUN_PRECISION = 0.02


class Mode(StrEnum):
    """How much a judgement covers.

    RUN judges the sample cases, and times what the backend times of a run; SUBMIT judges all cases, and then the
    benchmarks, whose time is the score.

    CHECK judges all cases and calls each benchmark once, whose outputs it checks as those of a timed call: no time is
    taken.
    """

    RUN = "run"
    CHECK = "check"
    SUBMIT = "submit"


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a judgement.

    ``stage`` is ``building``, ``built``, ``running``, ``case`` or ``timing``. ``done`` counts cases, or timed calls in
    the stage ``timing``; ``total`` is 0 where nobody knows it.
    """

    stage: str
    case_id: str | None = None
    verdict: Verdict | None = None
    done: int = 0
    total: int = 0
    group: str | None = None


Report = Callable[[Progress], None]
Cancelled = Callable[[], bool]


def build(
    source: bytes,
    pack: Pack,
    device: DeviceInfo,
    settings: JudgeSettings,
    *,
    backends: Backends = BUILTIN_BACKENDS,
    languages: Languages = BUILTIN_LANGUAGES,
) -> tuple[BuildReport, Artifact | None]:
    """Compiles a submission, in the pack's language, for a device. No artifact means CE. Raises InternalError."""
    target = backends.of(device.kind).target(device)
    return languages.of(pack.build.language).build(source, pack, target, settings)


def compile_error(
    report: BuildReport, pack: Pack, device: DeviceInfo, *, languages: Languages = BUILTIN_LANGUAGES
) -> Judgement:
    """Returns the judgement of a source that does not build."""
    headline = languages.of(pack.build.language).headline(report)
    return Judgement(
        Verdict.COMPILE_ERROR,
        pack.slug,
        pack.version,
        device,
        report,
        message=headline or "it does not compile",
        wall_s=report.wall_s,
    )


def run(
    artifact: Artifact, report: BuildReport, pack: Pack, device: DeviceInfo, seed: int, settings: JudgeSettings, *,
    source: bytes = b"", mode: Mode = Mode.SUBMIT,
    progress: Report = lambda _: None, cancelled: Cancelled = lambda: False,
    warm: WarmPool | None = None, background: Background | None = None, far_s: float = math.inf,
    backends: Backends = BUILTIN_BACKENDS, languages: Languages = BUILTIN_LANGUAGES,
) -> Judgement:  # fmt: skip
    """Judges a built submission. Raises judge.errors.Cancelled.

    ``seed`` decides the contents of every case that is not public. ``source``, if known, explains failures. ``warm``
    are runners of ``judge.backends.sessions.warm_runners`` for this device under these settings. With a ``background``,
    timed processes end and the device is released there, after this has returned. A measured time above ``far_s``
    seconds need not be precise.
    """
    started = time.monotonic()
    ending = ExitStack()
    try:
        backend = backends.of(device.kind)
        threads = ending.enter_context(backend.hold(device, settings, shared=mode is Mode.CHECK, cancelled=cancelled))
        language = languages.of(pack.build.language)
        task = _Task(source, pack, device, seed, mode, settings, backend, language, progress, far_s)
        factory = sessions_for(
            backend,
            pack,
            (*task.cases, *task.benchmarks),
            device,
            settings,
            cancelled=cancelled,
            warm=warm,
            threads=threads,
        )
        ending.enter_context(factory.quiet(wait=backend.fills_processors))
        judgement = _judge_despite_kills(task, artifact, report, factory, None, ending)
    except InternalError as error:
        judgement = _internal_error(error, report, pack, device)
    finally:
        if background is None:
            ending.close()
        else:
            background.submit(ending.close)
    return _with_wall(judgement, time.monotonic() - started)


def judge(
    source: bytes,
    pack: Pack,
    device: DeviceInfo,
    seed: int,
    settings: JudgeSettings,
    *,
    mode: Mode = Mode.SUBMIT,
    progress: Report = lambda _: None,
    cancelled: Cancelled = lambda: False,
    early: EarlyRunners | None = None,
    background: Background | None = None,
    backends: Backends = BUILTIN_BACKENDS,
    languages: Languages = BUILTIN_LANGUAGES,
) -> Judgement:
    """Builds and runs a submission; what runs it starts while the compiler works. Raises judge.errors.Cancelled.

    ``early`` are runners of this device under these settings that the calling thread has started before. With a
    ``background``, processes end and the device is released there, after this has returned.
    """
    started = time.monotonic()
    ending = ExitStack()
    report = BuildReport(ok=False, wall_s=0.0)
    try:
        backend = backends.of(device.kind)
        threads = ending.enter_context(backend.hold(device, settings, shared=mode is Mode.CHECK, cancelled=cancelled))
        language = languages.of(pack.build.language)
        task = _Task(source, pack, device, seed, mode, settings, backend, language, progress)
        cases = (*task.cases, *task.benchmarks)
        factory = sessions_for(backend, pack, cases, device, settings, cancelled=cancelled, warm=early, threads=threads)
        session = factory.start()
        ending.callback(session.finish)
        timed = mode is not Mode.CHECK and bool(task.benchmarks)
        ahead = backend.begin_ahead(pack, task.benchmarks, device, settings, factory) if timed else None
        if ahead is not None:
            ending.callback(ahead.close)
        PROCESSES.start()
        progress(Progress("building"))
        report, artifact = build(source, pack, device, settings, backends=backends, languages=languages)
        progress(Progress("built"))
        if artifact is None:
            judgement = compile_error(report, pack, device, languages=languages)
        else:
            judgement = _judge_despite_kills(task, artifact, report, factory, session, ending, ahead)
    except RunnerEnded as ended:
        judgement = _internal_error(InternalError(f"the runner did not start: {ended}"), report, pack, device)
    except InternalError as error:
        judgement = _internal_error(error, report, pack, device)
    finally:
        if background is None:
            ending.close()
        else:
            background.submit(ending.close)
    return _with_wall(judgement, time.monotonic() - started)


@dataclass(frozen=True, slots=True)
class _Task:
    """A request to judge a submission on a device."""

    source: bytes
    pack: Pack
    device: DeviceInfo
    seed: int
    mode: Mode
    settings: JudgeSettings
    backend: Backend
    language: Language
    progress: Report
    far_s: float = math.inf

    @property
    def cases(self) -> tuple[Case, ...]:
        """The functional cases."""
        cases = self.pack.cases_for(self.device.kind)
        return tuple(case for case in cases if case.is_public) if self.mode is Mode.RUN else cases

    @property
    def benchmarks(self) -> tuple[Case, ...]:
        """The cases that are scored, or called once; of a run, those of its unranked time."""
        if self.mode is Mode.RUN:
            return self.backend.benchmarks_of_run(self.pack)
        return self.pack.benchmarks_for(self.device.kind)

    def build_null_kernel(self) -> Artifact:
        """Builds a ``solve`` that does nothing. Raises InternalError."""
        return self.language.build_null_kernel(self.pack, self.backend.target(self.device), self.settings)

    @property
    def timing_settings(self) -> JudgeSettings:
        """The settings with the precision of this task's times."""
        if self.mode is not Mode.RUN:
            return self.settings
        return dataclasses.replace(self.settings, precision=max(self.settings.precision or 0.0, _RUN_PRECISION))

    def on_timed(self, case: Case, calls: int, total: int) -> None:
        """Reports how many calls of a benchmark were timed."""
        self.progress(Progress("timing", case.id, None, calls, total))


def _judge_despite_kills(
    task: _Task,
    artifact: Artifact,
    report: BuildReport,
    factory: SessionFactory,
    session: Session | None,
    ending: ExitStack,
    ahead: Ahead | None = None,
) -> Judgement:
    """Judges again when a runner was killed, perhaps from outside, while it was timed.

    A submission whose runners are killed every time is taken to kill itself, unless nothing inside the jail can have
    done it: then InternalError.
    """
    for attempt in range(1 + _MAX_KILLS):
        try:
            first = (session, ahead) if attempt == 0 else (None, None)
            return _judge_built(task, artifact, report, factory, *first, ending)
        except RunnerKilled as killed:
            last = killed
    if last.outcome is None:
        raise last
    verdict, message = last.outcome.verdict, last.outcome.message
    return Judgement(verdict, task.pack.slug, task.pack.version, task.device, report, message=message)


def _judge_built(
    task: _Task,
    artifact: Artifact,
    report: BuildReport,
    factory: SessionFactory,
    session: Session | None,
    ahead: Ahead | None,
    ending: ExitStack,
) -> Judgement:
    """Judges the cases one by one and, if all are accepted, scores the benchmarks.

    ``session`` is unused so far, and ``ahead`` was begun before. ``ending`` takes what may be closed once the judgement
    is there.
    """
    pack, device, cases, benchmarks = task.pack, task.device, task.cases, task.benchmarks
    task.progress(Progress("running", total=len(cases)))
    if task.mode is not Mode.CHECK:
        artifact, report = task.backend.choose_configurations(
            task.language, artifact, report, pack, benchmarks, task.seed, task.settings, factory
        )
    case_runner = CaseRunner(factory, pack, artifact, task.seed, started=session, source=task.source)
    job = ScoringJob(
        pack, benchmarks, device, task.timing_settings, task.seed, report, artifact, task.build_null_kernel, factory,
        case_runner, task.on_timed, ending, ahead, task.far_s,
    )  # fmt: skip
    scorer: Scorer = UntimedScorer(job) if task.mode is Mode.CHECK else task.backend.scorer(job)
    judged: list[CaseJudgement] = []
    scored = Score((), None)
    try:
        for answer in case_runner.judge_cases(cases):
            case = answer.judgement
            judged.append(case)
            task.progress(Progress("case", case.id, case.verdict, len(judged), len(cases), case.group))
            if benchmarks and len(judged) == 1 and _all_accepted(judged):
                scorer.prepare()
            if task.mode is Mode.RUN and case.verdict is Verdict.TIME_LIMIT_EXCEEDED:
                # Somebody waits for this one, and the next case would take as long.
                break
        if len(judged) < len(cases):
            judged[-1] = _last_one(judged[-1], len(cases) - len(judged))
        if benchmarks and _all_accepted(judged):
            task.progress(Progress("timing"))
            with factory.quiet():
                scored = scorer.score()
            if task.mode is not Mode.RUN:
                judged += scored.cases
        case_runner.end_session()
        if case_runner.flooded and _all_accepted(judged):
            judged[-1] = _flooded(judged[-1])
            scored = Score((), None)
    finally:
        scorer.close()
        case_runner.close()
    judged, message = with_larger_error_first(judged)
    verdict = combine_verdicts(case.verdict for case in judged)
    if verdict is Verdict.ACCEPTED:
        message = ""
    judgement = Judgement(verdict, pack.slug, pack.version, device, report, tuple(judged), message=message)
    if task.mode is not Mode.RUN:
        return dataclasses.replace(judgement, measurement=scored.measurement)
    # The verdict of a run is that of its public cases.
    why_untimed = next((case.message for case in scored.cases if case.message), "")
    return dataclasses.replace(
        judgement, unranked=scored.measurement, message=message or (f"not timed: {why_untimed}" if why_untimed else "")
    )


def _all_accepted(judged: Sequence[CaseJudgement]) -> bool:
    return bool(judged) and all(case.verdict is Verdict.ACCEPTED for case in judged)


def _flooded(case: CaseJudgement) -> CaseJudgement:
    verdict = Verdict.OUTPUT_LIMIT_EXCEEDED
    return CaseJudgement(case.id, case.group, verdict, case.wall_s, FLOODED, sizes=case.sizes)


def _last_one(case: CaseJudgement, skipped: int) -> CaseJudgement:
    """Returns the case with a note on those behind it that nobody will judge."""
    note = f"the {skipped} cases after it were not judged" if skipped > 1 else "the case after it was not judged"
    return dataclasses.replace(case, message=f"{case.message}; {note}" if case.message else note)


def _internal_error(error: InternalError, report: BuildReport, pack: Pack, device: DeviceInfo) -> Judgement:
    return Judgement(Verdict.INTERNAL_ERROR, pack.slug, pack.version, device, report, message=str(error))


def _with_wall(judgement: Judgement, wall_s: float) -> Judgement:
    return dataclasses.replace(judgement, wall_s=wall_s)
