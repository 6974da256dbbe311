"""From a source to a judgement: build, run the cases, time the benchmark, put it together.

``judge`` does all of it; ``build`` and ``run`` are its halves, for workers that have a machine for each. Nothing
here knows of a web, a database or a queue. What is the machine's fault comes back as IE, so that whoever asked can
try again.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from emulator.model import MODEL_VERSION, load_gpu
from judge.bench.background import Background
from judge.bench.measurement import TimedCase, modelled_time
from judge.bench.modelled import modelled_call
from judge.bench.plausibility import why_count_not_believed, why_model_not_believed
from judge.bench.setup import timing_room
from judge.build.artifact import Artifact
from judge.build.diagnostics import headline
from judge.build.nvcc import build_submission
from judge.build.target import Target
from judge.devices.kernels.build import ensure_kernels
from judge.devices.lock import device_lock
from judge.errors import InternalError
from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement, Measurement
from judge.packs.pack import Case, Pack
from judge.settings import JudgeSettings
from judge.supervisor.factory import SessionFactory, session_factory, warm_pool
from judge.supervisor.feeder import Feeder, case_judgement
from judge.supervisor.launcher import JailLauncher
from judge.supervisor.outcome import Outcome
from judge.supervisor.replays import ReplayedCall, Replays
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
    warm: WarmRunners | None = None, background: Background | None = None,
) -> Judgement:  # fmt: skip
    """Judges what was built. ``seed`` decides the contents of every case; ``warm`` are runners of ``warm_runners`` for
    this device and these settings. In the ``background``, where there is one, timed processes come to their ends and
    the device is let go of, when this has returned. Raises judge.errors.Cancelled.
    """
    started = time.monotonic()
    ending = ExitStack()
    try:
        ending.enter_context(device_lock(device, settings, cancelled=cancelled))
        factory = factory_for(pack, device, settings, mode, cancelled, warm)
        # The emulator wants every core for the calls; on a GPU whoever is started now would be waited for later.
        ending.enter_context(factory.quiet(wait=factory.emulated))
        run = _Run(report, pack, device, seed, mode, settings, progress, ending)
        judgement = run.judge_built(artifact, factory, None)
    except InternalError as error:
        judgement = _internal_error(error, report, pack, device)
    finally:
        if background is None:
            ending.close()
        else:
            background.submit(ending.close)
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
        with device_lock(device, settings, cancelled=cancelled), ExitStack() as ending:
            factory = factory_for(pack, device, settings, mode, cancelled)
            session = factory.start()
            progress(Progress("building"))
            report, artifact = build(source, pack, device, settings)
            progress(Progress("built"))
            if artifact is None:
                judgement = compile_error(report, pack, device)
            else:
                run = _Run(report, pack, device, seed, mode, settings, progress, ending)
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


def factory_for(
    pack: Pack, device: DeviceInfo, settings: JudgeSettings, mode: Mode, cancelled: Cancelled,
    warm: WarmRunners | None = None,
) -> SessionFactory:  # fmt: skip
    """Makes sessions for all of a pack's cases. Raises InternalError."""
    cases = (*_cases(pack, device, mode), *_benchmarks(pack, device, mode))
    if not cases:
        raise InternalError(f"{pack.slug} has no case for {device.kind}")
    library = _library(device, settings)
    launcher = JailLauncher(device, settings, library=library)
    return session_factory(pack, cases, device, settings, launcher, library=library, cancelled=cancelled, warm=warm)


def _library(device: DeviceInfo, settings: JudgeSettings) -> Path:
    """The emulator's native library, or the machine code of the judge's kernels for this GPU. Raises InternalError."""
    wanted = device.kind, device.compute_capability, settings.data_dir, settings.nvcc
    if not (library := _ensure_library(*wanted)).exists():
        _ensure_library.cache_clear()
        library = _ensure_library(*wanted)
    return library


@functools.lru_cache(maxsize=16)
def _ensure_library(kind: str, compute_capability: str, data_dir: Path, nvcc: Path | None) -> Path:
    """Kept for the life of the process: to find out that the sources are the same takes milliseconds."""
    if kind == "cuda":
        return ensure_kernels(compute_capability, data_dir / "kernels", nvcc)
    from emulator import native

    try:
        return native.ensure(data_dir / "emulator")
    except native.NativeBuildError as error:
        raise InternalError(f"the emulator's native library cannot be built: {error}") from error


def _cases(pack: Pack, device: DeviceInfo, mode: Mode) -> tuple[Case, ...]:
    cases = pack.cases_for(device.kind)
    return tuple(case for case in cases if case.group == "sample") if mode is Mode.RUN else cases


def _benchmarks(pack: Pack, device: DeviceInfo, mode: Mode) -> tuple[Case, ...]:
    return pack.benchmarks_for(device.kind) if mode is Mode.SUBMIT else ()


@dataclass(frozen=True, slots=True)
class _Run:
    """One submission that was built, on one device. What its end leaves to be done is put on ``ending``."""

    build: BuildReport
    pack: Pack
    device: DeviceInfo
    seed: int
    mode: Mode
    settings: JudgeSettings
    progress: Report
    ending: ExitStack

    def judge_built(self, artifact: Artifact, factory: SessionFactory, session: Session | None) -> Judgement:
        pack, device = self.pack, self.device
        cases, benchmarks = _cases(pack, device, self.mode), _benchmarks(pack, device, self.mode)
        total = len(cases)
        feeder = Feeder(factory, pack, artifact.library, self.seed, started=session)
        replays = Replays(factory, pack, artifact.library, self.seed)
        emulated = device.kind == "emulator"
        judged: list[CaseJudgement] = []
        score: Measurement | None = None
        try:
            self.progress(Progress("running", total=total))
            for answer in feeder.judge_cases(cases):
                case = answer.judgement
                judged.append(case)
                self.progress(Progress("case", case.id, case.verdict, len(judged), total, case.group))
                if emulated and benchmarks and len(judged) == 1 and _all_accepted(judged):
                    replays.begin()
            if benchmarks and _all_accepted(judged):
                self.progress(Progress("timing"))
                with factory.quiet():
                    if emulated:
                        score = self._model(replays, feeder, benchmarks, judged)
                    else:
                        score = self._time(factory, artifact, feeder, benchmarks, judged)
            feeder.end_session()
            if feeder.flooded and _all_accepted(judged):
                flood = Outcome(Verdict.OUTPUT_LIMIT_EXCEEDED, "it printed more than is allowed")
                judged[-1] = _replaced(judged[-1], flood)
                score = None
        finally:
            replays.close()
            feeder.close()
        verdict = combine_verdicts(case.verdict for case in judged)
        message = next((case.message for case in judged if case.verdict is verdict), "")
        if verdict is Verdict.ACCEPTED:
            message = ""
        return Judgement(verdict, pack.slug, pack.version, device, self.build, tuple(judged), score, message)

    def _model(
        self, replays: Replays, feeder: Feeder, benchmarks: tuple[Case, ...], judged: list[CaseJudgement]
    ) -> Measurement | None:
        """The score by one run of each, done again without the submission's host code: what is counted there is the
        same every time. The judgements of the benchmarks are appended to ``judged``; no score where one is not
        accepted."""
        timed: list[TimedCase] = []
        gpu = load_gpu(self.settings.emulator_gpu)
        for case in benchmarks:
            judgement, call = _judge_replayed(case, replays, feeder)
            judged.append(judgement)
            report = call.report
            if judgement.verdict is not Verdict.ACCEPTED or report is None:
                break
            task = self.pack.case_bytes(case), self.pack.case_flops(case)
            modelled = modelled_call(report, self.build, gpu, call.transfers)
            doubt = why_count_not_believed(float(report.warp_instructions), *task)
            doubt = doubt or why_model_not_believed(modelled.seconds, *task, gpu)
            if doubt:
                judged[-1] = _replaced(judgement, Outcome(Verdict.TIMING_NOT_TRUSTED, doubt))
                break
            timed.append(TimedCase(case, ((modelled.seconds,),), details=modelled.details))
            self.progress(Progress("timing", case.id, None, 1, 1))
        if len(timed) < len(benchmarks):
            return None
        return modelled_time(self.pack, timed, gpu=self.settings.emulator_gpu, model=MODEL_VERSION)

    def _time(
        self, factory: SessionFactory, artifact: Artifact, feeder: Feeder, benchmarks: tuple[Case, ...],
        judged: list[CaseJudgement],
    ) -> Measurement | None:  # fmt: skip
        """The score as measured, and the judgements of the benchmarks, as in ``_model``."""
        made: Counter[str] = Counter()

        def heard(case: Case, calls: int) -> None:
            made[case.id] += calls
            self.progress(Progress("timing", case.id, None, made[case.id], 0))

        opened = timing_room(self.pack, benchmarks, self.device, self.settings, factory, self.seed)
        room = self.ending.enter_context(opened)
        ended = room.bench.background.submit(feeder.end_session)
        [(results, score)] = room.time([artifact.library], heard)
        ended.result()
        judged += [case_judgement(result.case, result.outcome, result.wall_s) for result in results]
        return score


def _all_accepted(judged: Sequence[CaseJudgement]) -> bool:
    return bool(judged) and all(case.verdict is Verdict.ACCEPTED for case in judged)


def _judge_replayed(case: Case, replays: Replays, feeder: Feeder) -> tuple[CaseJudgement, ReplayedCall]:
    """What the call did without the submission's host code. Where that is not right, what the submission does by itself
    decides; if that is right, the call is done again once more before its time is called not trusted."""
    call = replays.judge(case)
    if call.outcome.verdict is Verdict.TIMING_NOT_TRUSTED:
        for answer in feeder.judge_cases([case]):
            if answer.judgement.verdict is not Verdict.ACCEPTED:
                return answer.judgement, call
        call = replays.judge(case)
    return case_judgement(case, call.outcome, call.wall_s), call


def _replaced(case: CaseJudgement, outcome: Outcome) -> CaseJudgement:
    return CaseJudgement(case.id, case.group, outcome.verdict, case.wall_s, outcome.message)


def _internal_error(error: InternalError, report: BuildReport, pack: Pack, device: DeviceInfo) -> Judgement:
    return Judgement(Verdict.INTERNAL_ERROR, pack.slug, pack.version, device, report, message=str(error))


def _with_wall(judgement: Judgement, wall_s: float) -> Judgement:
    return dataclasses.replace(judgement, wall_s=wall_s)
