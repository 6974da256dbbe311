"""From a source to a judgement: build, run the cases, time the benchmark, put it together.

``judge`` does all of it; ``build`` and ``run`` are its halves, for workers that have a machine for each. Nothing
here knows of a web, a database or a queue. What is the machine's fault comes back as IE, so that whoever asked can
try again.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from emulator.model import MODEL_VERSION, load_gpu
from judge.bench.measurement import TimedCase, measurement
from judge.bench.modelled import modelled_call
from judge.bench.plausibility import why_count_not_believed, why_model_not_believed
from judge.bench.protocol import Bench
from judge.build.artifact import Artifact
from judge.build.diagnostics import headline
from judge.build.nvcc import build_submission
from judge.build.target import Target
from judge.devices.kernels.build import ensure_kernels
from judge.devices.lock import device_lock
from judge.errors import InternalError
from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement, Measurement
from judge.packs.pack import Case, Pack
from judge.runner.messages import Watch
from judge.settings import JudgeSettings
from judge.supervisor.factory import SessionFactory, session_factory, warm_pool
from judge.supervisor.feeder import Feeder, case_judgement
from judge.supervisor.launcher import JailLauncher
from judge.supervisor.outcome import Outcome, outcome_of_ending
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import Session
from judge.supervisor.warm import WarmRunners
from judge.verdict import Verdict, combine_verdicts


class Mode(StrEnum):
    """RUN judges the sample cases; SUBMIT all cases, and then the benchmarks, whose time is the score."""

    RUN = "run"
    SUBMIT = "submit"


@dataclass(frozen=True, slots=True)
class Progress:
    """Something happened. ``stage`` is ``building``, ``built``, ``running``, ``case`` or ``timing``; ``done`` of
    ``total`` cases, or timed calls (0 where it is not known how many there will be)."""

    stage: str
    case_id: str | None = None
    verdict: Verdict | None = None
    done: int = 0
    total: int = 0
    group: str | None = None


Report = Callable[[Progress], None]
Cancelled = Callable[[], bool]


def build(
    source: bytes, pack: Pack, device: DeviceInfo, settings: JudgeSettings
) -> tuple[BuildReport, Artifact | None]:
    """Compiles a submission for a device. No artifact means CE. Raises InternalError."""
    target = Target.emulator() if device.kind == "emulator" else Target.cuda(device.compute_capability)
    return build_submission(source, pack, target, settings)


def compile_error(report: BuildReport, pack: Pack, device: DeviceInfo) -> Judgement:
    """The judgement on a source that does not build."""
    return Judgement(
        Verdict.COMPILE_ERROR, pack.slug, pack.version, device, report,
        message=headline(report.log) or "it does not compile", wall_s=report.wall_s,
    )  # fmt: skip


def run(
    artifact: Artifact, report: BuildReport, pack: Pack, device: DeviceInfo, seed: int, settings: JudgeSettings, *,
    mode: Mode = Mode.SUBMIT, progress: Report = lambda _: None, cancelled: Cancelled = lambda: False,
    warm: WarmRunners | None = None,
) -> Judgement:  # fmt: skip
    """Judges what was built. ``seed`` decides the contents of every case; ``warm`` are runners of ``warm_runners`` for
    this device and these settings. Raises judge.errors.Cancelled.
    """
    started = time.monotonic()
    try:
        with device_lock(device, settings, cancelled=cancelled):
            factory = _factory(pack, device, settings, mode, cancelled, warm)
            run = _Run(report, pack, device, seed, mode, settings, progress)
            # The emulator wants every core for the calls.
            with factory.quiet() if factory.emulated else nullcontext():
                judgement = run.judge_built(artifact, factory, None)
    except InternalError as error:
        judgement = _internal_error(error, report, pack, device)
    return _with_wall(judgement, time.monotonic() - started)


def judge(
    source: bytes, pack: Pack, device: DeviceInfo, seed: int, settings: JudgeSettings, *,
    mode: Mode = Mode.SUBMIT, progress: Report = lambda _: None, cancelled: Cancelled = lambda: False,
) -> Judgement:  # fmt: skip
    """Builds and runs. The runner starts while the compiler works. Raises judge.errors.Cancelled."""
    started = time.monotonic()
    report = BuildReport(ok=False, wall_s=0.0)
    session: Session | None = None
    try:
        with device_lock(device, settings, cancelled=cancelled):
            factory = _factory(pack, device, settings, mode, cancelled)
            session = factory.start()
            progress(Progress("building"))
            report, artifact = build(source, pack, device, settings)
            progress(Progress("built"))
            if artifact is None:
                judgement = compile_error(report, pack, device)
            else:
                run = _Run(report, pack, device, seed, mode, settings, progress)
                judgement = run.judge_built(artifact, factory, session)
    except InternalError as error:
        judgement = _internal_error(error, report, pack, device)
    finally:
        if session is not None:
            session.finish()
    return _with_wall(judgement, time.monotonic() - started)


def warm_runners(device: DeviceInfo, settings: JudgeSettings, count: int, report: Callable[[str], None]) -> WarmRunners:
    """``count`` runners that wait, for ``run``. Close them when no judgement is under way. Raises InternalError."""
    library = _library(device, settings)
    launcher = JailLauncher(device, settings, library=library)
    return warm_pool(device, settings, launcher, count, library=library, report=report)


def _factory(
    pack: Pack, device: DeviceInfo, settings: JudgeSettings, mode: Mode, cancelled: Cancelled,
    warm: WarmRunners | None = None,
) -> SessionFactory:  # fmt: skip
    cases = (*_cases(pack, device, mode), *_benchmarks(pack, device, mode))
    if not cases:
        raise InternalError(f"{pack.slug} has no case for {device.kind}")
    library = _library(device, settings)
    launcher = JailLauncher(device, settings, library=library)
    return session_factory(pack, cases, device, settings, launcher, library=library, cancelled=cancelled, warm=warm)


def _library(device: DeviceInfo, settings: JudgeSettings) -> Path:
    """The emulator's native library, or the machine code of the judge's kernels for this GPU. Raises InternalError."""
    if device.kind == "cuda":
        return ensure_kernels(device.compute_capability, settings.data_dir / "kernels", settings.nvcc)
    from emulator import native

    try:
        return native.ensure(settings.data_dir / "emulator")
    except native.NativeBuildError as error:
        raise InternalError(f"the emulator's native library cannot be built: {error}") from error


def _cases(pack: Pack, device: DeviceInfo, mode: Mode) -> tuple[Case, ...]:
    cases = pack.cases_for(device.kind)
    return tuple(case for case in cases if case.group == "sample") if mode is Mode.RUN else cases


def _benchmarks(pack: Pack, device: DeviceInfo, mode: Mode) -> tuple[Case, ...]:
    return pack.benchmarks_for(device.kind) if mode is Mode.SUBMIT else ()


@dataclass(frozen=True, slots=True)
class _Run:
    """One submission that was built, on one device."""

    build: BuildReport
    pack: Pack
    device: DeviceInfo
    seed: int
    mode: Mode
    settings: JudgeSettings
    progress: Report

    def judge_built(self, artifact: Artifact, factory: SessionFactory, session: Session | None) -> Judgement:
        pack, device = self.pack, self.device
        cases, benchmarks = _cases(pack, device, self.mode), _benchmarks(pack, device, self.mode)
        total = len(cases)
        feeder = Feeder(factory, pack, artifact.library, self.seed, started=session)
        judged: list[CaseJudgement] = []
        score: Measurement | None = None
        try:
            self.progress(Progress("running", total=total))
            for answer in feeder.judge_cases(cases):
                case = answer.judgement
                judged.append(case)
                self.progress(Progress("case", case.id, case.verdict, len(judged), total, case.group))
            if benchmarks and judged and all(case.verdict is Verdict.ACCEPTED for case in judged):
                self.progress(Progress("timing"))
                with factory.quiet():
                    score = self._score(feeder, benchmarks, judged)
            if feeder.end_session() and all(case.verdict is Verdict.ACCEPTED for case in judged):
                flood = Outcome(Verdict.OUTPUT_LIMIT_EXCEEDED, "it printed more than is allowed")
                judged[-1] = _replaced(judged[-1], flood)
                score = None
        finally:
            feeder.close()
        verdict = combine_verdicts(case.verdict for case in judged)
        message = next((case.message for case in judged if case.verdict is verdict), "")
        if verdict is Verdict.ACCEPTED:
            message = ""
        return Judgement(verdict, pack.slug, pack.version, device, self.build, tuple(judged), score, message)

    def _score(self, feeder: Feeder, benchmarks: tuple[Case, ...], judged: list[CaseJudgement]) -> Measurement | None:
        """The score, and the judgements of the benchmarks at the end of ``judged``; none where one is not accepted."""
        emulated = self.device.kind == "emulator"
        timed = self._model(feeder, benchmarks, judged) if emulated else self._time(feeder, benchmarks, judged)
        if len(timed) < len(benchmarks):
            return None
        if emulated:
            gpu = self.settings.emulator_gpu
            return measurement("modelled_time_s", self.pack, timed, gpu=gpu, model=MODEL_VERSION)
        return measurement("time_s", self.pack, timed)

    def _model(self, feeder: Feeder, benchmarks: tuple[Case, ...], judged: list[CaseJudgement]) -> list[TimedCase]:
        """One run of each: what is counted is the same every time."""
        timed: list[TimedCase] = []
        gpu = load_gpu(self.settings.emulator_gpu)
        for answer in feeder.judge_cases(benchmarks, Watch.PROFILE):
            judged.append(answer.judgement)
            report = answer.record.fetched.report if answer.record is not None else None
            if answer.judgement.verdict is not Verdict.ACCEPTED or report is None:
                break
            case = _case(benchmarks, answer.judgement.id)
            task = self.pack.case_bytes(case), self.pack.case_flops(case)
            modelled = modelled_call(report, self.build, gpu)
            doubt = why_count_not_believed(float(report.warp_instructions), *task)
            doubt = doubt or why_model_not_believed(modelled.seconds, *task, gpu)
            if doubt:
                judged[-1] = _replaced(answer.judgement, Outcome(Verdict.TIMING_NOT_TRUSTED, doubt))
                break
            timed.append(TimedCase(case, (modelled.seconds,), modelled.details))
            self.progress(Progress("timing", case.id, None, 1, 1))
        return timed

    def _time(self, feeder: Feeder, benchmarks: tuple[Case, ...], judged: list[CaseJudgement]) -> list[TimedCase]:
        timed: list[TimedCase] = []
        for case in benchmarks:
            outcome, samples, wall_s = _time_on_gpu(feeder, self.pack, self.device, self.seed, case, self.progress)
            judged.append(case_judgement(case, outcome, wall_s))
            if outcome.verdict is not Verdict.ACCEPTED:
                break
            timed.append(TimedCase(case, samples))
        return timed


def _time_on_gpu(
    feeder: Feeder, pack: Pack, device: DeviceInfo, seed: int, case: Case, progress: Report
) -> tuple[Outcome, tuple[float, ...], float]:
    try:
        timing = Bench(feeder.session(), pack, case, device, seed).run(
            lambda done: progress(Progress("timing", case.id, None, done, 0))
        )
    except RunnerEnded as ended:
        feeder.bury()
        return outcome_of_ending(ended.ending, pack.limits.wall_s), (), 0.0
    except RequestRefused as refused:
        return feeder.bury_after(refused), (), 0.0
    return timing.outcome, timing.samples, timing.wall_s


def _case(cases: tuple[Case, ...], case_id: str) -> Case:
    return next(case for case in cases if case.id == case_id)


def _replaced(case: CaseJudgement, outcome: Outcome) -> CaseJudgement:
    return CaseJudgement(case.id, case.group, outcome.verdict, case.wall_s, outcome.message)


def _internal_error(error: InternalError, report: BuildReport, pack: Pack, device: DeviceInfo) -> Judgement:
    return Judgement(Verdict.INTERNAL_ERROR, pack.slug, pack.version, device, report, message=str(error))


def _with_wall(judgement: Judgement, wall_s: float) -> Judgement:
    return dataclasses.replace(judgement, wall_s=wall_s)
