"""Times several submissions together, so that what a busy hour or a warm GPU does to one it does to all.

Their processes take turns (A B C A B C A B C) on one device that nobody else uses meanwhile, on inputs from one seed.
Functional cases are not run again: what is timed is verified as ever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from judge.bench.setup import timing_room
from judge.build.artifact import Artifact
from judge.devices.lock import device_lock
from judge.errors import InternalError
from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.packs.pack import Pack
from judge.pipeline import Mode, factory_for
from judge.settings import JudgeSettings
from judge.supervisor.feeder import case_judgement
from judge.supervisor.warm import WarmRunners
from judge.verdict import Verdict, combine_verdicts


def audit(
    built: Sequence[tuple[Artifact, BuildReport]], pack: Pack, device: DeviceInfo, seed: int, settings: JudgeSettings,
    *, cancelled: Callable[[], bool] = lambda: False, warm: WarmRunners | None = None,
) -> list[Judgement]:  # fmt: skip
    """A judgement of each, in their order, whose cases are the benchmarks. Raises InternalError and Cancelled."""
    benchmarks = pack.benchmarks_for(device.kind)
    if device.kind != "cuda" or not benchmarks:
        raise InternalError(f"{pack.slug} is not timed on {device.key}")
    started = time.monotonic()
    with device_lock(device, settings, cancelled=cancelled):
        factory = factory_for(pack, device, settings, Mode.SUBMIT, cancelled, warm)
        with factory.quiet(), timing_room(pack, benchmarks, device, settings, factory, seed) as room:
            found = room.time([artifact.library for artifact, _ in built])
    wall_s = time.monotonic() - started
    judged = []
    for (_, report), (results, score) in zip(built, found, strict=True):
        cases = tuple(case_judgement(result.case, result.outcome, result.wall_s) for result in results)
        verdict = combine_verdicts(case.verdict for case in cases)
        message = cases[-1].message if verdict is not Verdict.ACCEPTED else ""
        judged.append(Judgement(verdict, pack.slug, pack.version, device, report, cases, score, message, wall_s=wall_s))
    return judged
