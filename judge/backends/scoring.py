"""The protocol of a scorer: it judges the benchmarks of one submission, and scores them."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from typing import Protocol

from judge.compile.artifact import Artifact
from judge.judgement import BuildReport, CaseJudgement, DeviceInfo
from judge.measurements import Measurement
from judge.packs.pack import Case, Pack
from judge.settings import JudgeSettings
from judge.supervisor.case_runner import CaseRunner
from judge.supervisor.factory import SessionFactory
from records import dataclass


class Ahead(Protocol):
    """Resources for scoring that do not depend on the submission. ``close`` ends those not taken. Idempotent."""

    def close(self) -> None: ...


#: Gets the case, the calls made so far, and how many there will be (0 where nobody knows).
OnTimed = Callable[[Case, int, int], None]


@dataclass(frozen=True, slots=True)
class ScoringJob:
    """One built submission on one device.

    ``build_null_kernel`` builds a ``solve`` that does nothing, ``case_runner`` judges the functional cases, and
    ``ending`` takes what may be closed once the judgement is there. ``ahead`` is what the backend began before the
    submission was built. A time above ``far_s`` seconds need not be precise.
    """

    pack: Pack
    benchmarks: tuple[Case, ...]
    device: DeviceInfo
    settings: JudgeSettings
    seed: int
    build: BuildReport
    artifact: Artifact
    build_null_kernel: Callable[[], Artifact]
    factory: SessionFactory
    case_runner: CaseRunner
    on_timed: OnTimed
    ending: ExitStack
    ahead: Ahead | None = None
    far_s: float = math.inf


@dataclass(frozen=True, slots=True)
class Score:
    """The judgements of the benchmarks, up to the first that is not accepted, and the measurement if all are."""

    cases: tuple[CaseJudgement, ...]
    measurement: Measurement | None


class Scorer(Protocol):
    """Scores one submission. ``close`` is called in the end, whether it scored or not."""

    def prepare(self) -> None:
        """Starts the processes that scoring needs. Called once, when the first case is accepted."""

    def score(self) -> Score:
        """Judges and scores the benchmarks. Raises InternalError and Cancelled."""

    def close(self) -> None:
        """Ends all running work. Idempotent."""
