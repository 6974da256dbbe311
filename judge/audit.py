"""Times several submissions together, so that what a busy hour or a warm GPU does to one it does to all.

Their processes take turns (A B C A B C A B C) on one device that nobody else uses meanwhile, on inputs from one seed.
Functional cases are not run again: what is timed is verified as ever. Then the kernels of each are timed once more,
without its host code (``judge.bench.kernel_replay``).
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from judge.bench.kernel_replay import NotRecorded, Replayed, replay_case
from judge.bench.setup import TimingRoom, timing_room
from judge.bench.trial import CaseResult
from judge.build.artifact import Artifact
from judge.build.diagnostics import headline
from judge.build.nvcc import build_submission
from judge.build.target import Target
from judge.devices.lock import device_lock
from judge.errors import InternalError
from judge.judgement import BuildReport, DeviceInfo, Judgement, Measurement
from judge.packs.pack import Pack
from judge.pipeline import Mode, factory_for
from judge.settings import JudgeSettings
from judge.supervisor.feeder import case_judgement
from judge.supervisor.outcome import Outcome
from judge.supervisor.warm import WarmRunners
from judge.verdict import Verdict, combine_verdicts

Timed = tuple[list[CaseResult], Measurement | None]


def audit(
    built: Sequence[tuple[Artifact, BuildReport]], pack: Pack, device: DeviceInfo, seed: int, settings: JudgeSettings,
    *, sources: Sequence[bytes] = (), cancelled: Callable[[], bool] = lambda: False, warm: WarmRunners | None = None,
) -> list[Judgement]:  # fmt: skip
    """A judgement of each, in their order, whose cases are the benchmarks. ``sources``: what they were built from, in
    that order; without them nothing is replayed. Raises InternalError and Cancelled."""
    benchmarks = pack.benchmarks_for(device.kind)
    if device.kind != "cuda" or not benchmarks:
        raise InternalError(f"{pack.slug} is not timed on {device.key}")
    started = time.monotonic()
    with device_lock(device, settings, cancelled=cancelled):
        factory = factory_for(pack, device, settings, Mode.SUBMIT, cancelled, warm)
        with factory.quiet(), timing_room(pack, benchmarks, device, settings, factory, seed) as room:
            found = room.time([artifact.library for artifact, _ in built])
            for index, source in enumerate(sources):
                contestant = _Contestant(
                    room, built[index][0], partial(_build_recorded, source, pack, device, settings)
                )
                found[index] = contestant.checked(*found[index])
    wall_s = time.monotonic() - started
    judged = []
    for (_, report), (results, score) in zip(built, found, strict=True):
        cases = tuple(case_judgement(result.case, result.outcome, result.wall_s) for result in results)
        verdict = combine_verdicts(case.verdict for case in cases)
        message = cases[-1].message if verdict is not Verdict.ACCEPTED else ""
        judged.append(Judgement(verdict, pack.slug, pack.version, device, report, cases, score, message, wall_s=wall_s))
    return judged


def _build_recorded(source: bytes, pack: Pack, device: DeviceInfo, settings: JudgeSettings) -> bytes:
    """The library with the recorder in it. Raises NotRecorded and InternalError."""
    target = Target.cuda(device.compute_capability)
    report, artifact = build_submission(source, pack, target, settings, recorded=True)
    if artifact is None:
        raise NotRecorded(f"it cannot be built with the recorder: {headline(report.log)}")
    return artifact.library


@dataclass(frozen=True, slots=True)
class _Contestant:
    """One that was timed. ``build_recorded``: see ``replay_case``."""

    room: TimingRoom
    artifact: Artifact
    build_recorded: Callable[[], bytes]

    def checked(self, results: list[CaseResult], score: Measurement | None) -> Timed:
        """What came of it, and of its kernels alone. At a first doubt both are timed again."""
        if score is None:
            return results, score
        replays = self._replays(results)
        if _doubts(results, replays):
            [(results, score)] = self.room.time([self.artifact.library])
            if score is None:
                return results, score
            replays = self._replays(results)
        doubts = _doubts(results, replays)
        for index, doubt in doubts.items():
            outcome = Outcome(Verdict.TIMING_NOT_TRUSTED, doubt)
            return [*results[:index], dataclasses.replace(results[index], outcome=outcome, timed=None)], None
        entries = [{**case, **replayed.entry()} for case, replayed in zip(score.cases, replays, strict=True)]
        return results, dataclasses.replace(score, cases=tuple(entries))

    def _replays(self, results: Sequence[CaseResult]) -> list[Replayed]:
        room, library = self.room, self.artifact.library
        return [replay_case(room.bench, room.empty, result.case, library, self.build_recorded) for result in results]


def _doubts(results: Sequence[CaseResult], replays: Sequence[Replayed]) -> dict[int, str]:
    """In words, by the number of the case."""
    pairs = enumerate(zip(results, replays, strict=True))
    found = {index: replay.doubt(result.timed.value) for index, (result, replay) in pairs if result.timed is not None}
    return {index: doubt for index, doubt in found.items() if doubt}
