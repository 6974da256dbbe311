"""Times a submission's kernels without its host code, and compares that with the claimed time.

Host code shares the process that times it. Code that takes that process over can claim any time between the bounds of
``clock_bound`` and ``plausibility``. The submission is therefore built again with a recorder, and one call records what
it asks of the GPU: a claim. Clean processes replay the recording with the machine code of the artifact, timed by the
same protocol on inputs that the recorded call never saw. If the outputs are right, that is the kernels' time.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable
from typing import TypeVar

from judge.bench.timing.clock_bound import slack
from judge.bench.timing.null_kernel import NullBaselines
from judge.bench.timing.submission_timer import time_processes
from judge.bench.timing.trial import Bench, Trial
from judge.compile.artifact import Artifact
from judge.errors import InternalError
from judge.measurements import BenchmarkCase
from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Case, Pack
from judge.supervisor.factory import SessionFactory
from judge.supervisor.layout import lay_out
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import Session
from records import dataclass

#: How much longer issuing one operation may take from the runner's Python than from the submission's host code.
ISSUE_S = 1e-6
#: The first call also makes what is made only once; the second is replayed.
_RECORDED_CALLS = 2
_REASON_CHARACTERS = 300

C = TypeVar("C", bound=BenchmarkCase)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay: the median of the processes' medians, the least of them, and the operations per call.

    Both times are None if the call could not be replayed, for the ``reason``.
    """

    time_s: float | None = None
    least_s: float | None = None
    operations: int = 0
    reason: str = ""

    def doubt(self, claim_s: float) -> str:
        """Returns why the claim is too short for these kernels, or an empty string.

        It is held against the fastest process: those of one kernel can differ by a twelfth (int8-matmul on an H200).
        """
        if self.least_s is None or claim_s >= self.least_s - slack(self.least_s) - self.operations * ISSUE_S:
            return ""
        return (
            f"a call is said to take {claim_s * 1e6:.1f} µs, but its kernels, launched again without the program's "
            f"host code, take {self.least_s * 1e6:.1f} µs"
        )

    def beside(self, case: C) -> C:
        """Returns the judgement's ``case`` with the replayed time, or with the reason why there is none."""
        if self.time_s is None:
            return dataclasses.replace(case, not_replayed=self.reason[:_REASON_CHARACTERS])
        return dataclasses.replace(case, replayed_s=self.time_s)


class NotRecorded(Exception):
    """The submission's call cannot be recorded; the message says why."""


def replay_case(
    bench: Bench, baselines: NullBaselines, case: Case, artifact: Artifact, recorded: Callable[[], Artifact]
) -> Replayed:
    """Replays and times the submission's call of this case. Raises Cancelled.

    ``recorded`` builds the submission with the recorder in it, and may raise NotRecorded.
    """
    try:
        factory = _ReplayFactory.of(bench.factory, record_call(bench, case, recorded()))
        pinned = dataclasses.replace(bench, pack=_pinned(bench.pack, case), cases=(case,), factory=factory, ahead=None)
        trial = Trial(pinned, baselines, artifact)
        time_processes(pinned, baselines, [trial])
        [result] = trial.results({})
    except NotRecorded as error:
        return Replayed(reason=str(error))
    except InternalError as error:
        return Replayed(reason=f"the machine could not: {error}")
    if result.timed is None:
        return Replayed(reason=f"{result.outcome.verdict}: {result.outcome.message}")
    medians = [statistics.median(process) for process in result.timed.processes]
    return Replayed(statistics.median(medians), min(medians), factory.operations[0])


def record_call(bench: Bench, case: Case, artifact: Artifact) -> bytes:
    """Returns the recording of a call of the submission, built with the recorder: a claim. Raises NotRecorded."""
    session = bench.factory.start()
    try:
        inputs = make_inputs(bench.pack, case, bench.seed)
        layout = lay_out(bench.pack, case, inputs)
        session.load_recorded(artifact)
        layout.put_inputs(session.runner.inputs, inputs)
        for _ in range(_RECORDED_CALLS):
            session.call(layout.request)
        return session.take_recording()
    except RequestRefused as refused:
        raise NotRecorded(refused.reply.message) from None
    except RunnerEnded as ended:
        raise NotRecorded(f"the recorded call did not come back: {ended}") from None
    finally:
        session.finish()


def _pinned(pack: Pack, case: Case) -> Pack:
    """Returns the pack without other sizes to draw, since a recording fits one size only."""
    axes = tuple(dataclasses.replace(axis, min=case.axes.get(axis.name, axis.min)) for axis in pack.axes)
    return dataclasses.replace(pack, axes=axes)


class _ReplaySession(Session):
    """Loads the recording instead of the submission."""

    recording: bytes
    #: Receives the number of operations per call.
    operations: list[int]

    def load(self, artifact: Artifact) -> None:
        self.operations[:] = [self.load_replay(artifact, self.recording).operations]


@dataclass(frozen=True, slots=True)
class _ReplayFactory(SessionFactory):
    recording: bytes = b""
    operations: list[int] = dataclasses.field(default_factory=list)

    @classmethod
    def of(cls, factory: SessionFactory, recording: bytes) -> _ReplayFactory:
        fields = {each.name: getattr(factory, each.name) for each in dataclasses.fields(factory)}
        return cls(**fields, recording=recording)

    def start(self) -> Session:
        session = _ReplaySession(self.start_runner(), self.submission, self.bounds, self.cancelled, self.reservation)
        session.recording, session.operations = self.recording, self.operations
        return session
