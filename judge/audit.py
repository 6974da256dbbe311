"""Times several submissions together, so that a busy hour or a warm GPU affects all of them alike.

Their processes take turns (A B C A B C A B C) on one device that nobody else uses meanwhile, with inputs from one seed.
Functional cases are not run again; the timed calls are verified as usual. Then the kernels of each submission are
replayed and timed without its host code (``judge.bench.timing.kernel_replay``).
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from functools import partial

from judge.backends.registry import BUILTIN_BACKENDS, Backends
from judge.backends.sessions import sessions_for
from judge.bench.library.record import LibraryTime
from judge.bench.timing.kernel_replay import NotRecorded, Replayed, replay_case
from judge.bench.timing.submission_timer import SubmissionTimer
from judge.bench.timing.trial import CaseResult
from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.languages.base import Language
from judge.languages.registry import BUILTIN_LANGUAGES, Languages
from judge.libraries import Alternation, alternate
from judge.measurements import Measurement
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.supervisor.case_report import case_judgement
from judge.supervisor.verdict_rules import Outcome
from judge.supervisor.warm_pool import WarmPool
from judge.verdict import Verdict, combine_verdicts
from records import dataclass

TimedSubmission = tuple[list[CaseResult], Measurement | None]


def audit(
    built: Sequence[tuple[Artifact, BuildReport]],
    pack: Pack,
    device: DeviceInfo,
    seed: int,
    settings: JudgeSettings,
    *,
    sources: Sequence[tuple[bytes, str]] = (),
    cancelled: Callable[[], bool] = lambda: False,
    warm: WarmPool | None = None,
    backends: Backends = BUILTIN_BACKENDS,
    languages: Languages = BUILTIN_LANGUAGES,
    on_libraries: Callable[[Sequence[LibraryTime]], None] | None = None,
) -> list[Judgement]:
    """Returns a judgement of each submission, in their order, whose cases are the benchmarks.

    ``sources``: what they were built from, each with its language, in that order; without them nothing is replayed.
    Raises InternalError and Cancelled.

    ``on_libraries`` gets the times of the pack's baselines, which take turns with the submissions; None: they do not.
    """
    backend, benchmarks = backends.of(device.kind), pack.benchmarks_for(device.kind)
    if not backend.audits or not benchmarks:
        raise InternalError(f"{pack.slug} is not timed on {device.key}")
    language, target = languages.of(pack.build.language), backend.target(device)
    build_null_kernel = partial(language.build_null_kernel, pack, target, settings)
    started = time.monotonic()
    with backend.hold(device, settings, cancelled=cancelled):
        all_cases = (*pack.cases_for(device.kind), *benchmarks)
        factory = sessions_for(backend, pack, all_cases, device, settings, cancelled=cancelled, warm=warm)
        opened = backend.open_timer(pack, benchmarks, device, settings, factory, seed, build_null_kernel)
        libraries = alternate(pack, device, settings, backends) if on_libraries else Alternation(lambda: None)
        with factory.quiet(), libraries, opened as room:
            found = room.time([artifact for artifact, _ in built], between=libraries.round)
            if on_libraries and (times := libraries.times()):
                on_libraries(times)
            for index, (source, name) in enumerate(sources):
                build_recorded = partial(_build_recorded, source, pack, target, settings, languages.of(name))
                contestant = _Contestant(room, built[index][0], build_recorded)
                found[index] = contestant.checked(*found[index])
    wall_s = time.monotonic() - started
    judged = []
    for (_, report), (results, score) in zip(built, found, strict=True):
        cases = tuple(case_judgement(result.case, result.outcome, result.wall_s) for result in results)
        verdict = combine_verdicts(case.verdict for case in cases)
        message = cases[-1].message if verdict is not Verdict.ACCEPTED else ""
        judged.append(Judgement(verdict, pack.slug, pack.version, device, report, cases, score, message, wall_s=wall_s))
    return judged


def _build_recorded(source: bytes, pack: Pack, target: Target, settings: JudgeSettings, language: Language) -> Artifact:
    """Builds the submission with the recorder in it. Raises NotRecorded and InternalError."""
    if not language.records:
        raise NotRecorded(f"what {language.title} asks of the device is not recorded")
    report, artifact = language.build(source, pack, target, settings, recorded=True)
    if artifact is None:
        raise NotRecorded(f"it cannot be built with the recorder: {language.headline(report)}")
    return artifact


@dataclass(frozen=True, slots=True)
class _Contestant:
    """A submission that was timed. ``build_recorded`` is that of ``replay_case``."""

    timer: SubmissionTimer
    artifact: Artifact
    build_recorded: Callable[[], Artifact]

    def checked(self, results: list[CaseResult], score: Measurement | None) -> TimedSubmission:
        """Returns the results with those of the replays added. At a first doubt, both are timed again."""
        if score is None:
            return results, score
        replays = self._replays(results)
        if _doubts(results, replays):
            [(results, score)] = self.timer.time([self.artifact])
            if score is None:
                return results, score
            replays = self._replays(results)
        doubts = _doubts(results, replays)
        for index, doubt in doubts.items():
            outcome = Outcome(Verdict.TIMING_NOT_TRUSTED, doubt)
            return [*results[:index], dataclasses.replace(results[index], outcome=outcome, timed=None)], None
        cases = [replayed.beside(case) for case, replayed in zip(score.cases, replays, strict=True)]
        return results, dataclasses.replace(score, cases=tuple(cases))

    def _replays(self, results: Sequence[CaseResult]) -> list[Replayed]:
        timer, artifact = self.timer, self.artifact
        return [
            replay_case(timer.bench, timer.baselines, result.case, artifact, self.build_recorded) for result in results
        ]


def _doubts(results: Sequence[CaseResult], replays: Sequence[Replayed]) -> dict[int, str]:
    """Returns, by case index, why a claim is too short for the replayed kernels."""
    pairs = enumerate(zip(results, replays, strict=True))
    found = {index: replay.doubt(result.timed.value) for index, (result, replay) in pairs if result.timed is not None}
    return {index: doubt for index, doubt in found.items() if doubt}
