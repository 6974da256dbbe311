"""Whether a submission's kernels are as fast without its host code as they were said to be with it.

Host code shares the process that times it, and code that takes that process over can say what it likes between the
bounds of ``clock_bound`` and ``roofline``. So one call of the submission, built again with a recorder, tells what it
asks of the GPU: a claim. Then clean processes do that again, with the machine code of the artifact, timed by the same
protocol on inputs that the recorded call never saw. If the outputs are right, their time is what the kernels take.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from judge.bench.clock_bound import slack
from judge.bench.empty_solve import EmptySolve
from judge.bench.trial import Bench, Trial, time_processes
from judge.errors import InternalError
from judge.packs.pack import Case, Pack
from judge.supervisor.factory import SessionFactory
from judge.supervisor.layout import lay_out
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import Session

#: By so much more may issuing an operation cost from the runner's Python than from the submission's host code.
ISSUE_S = 1e-6
#: The first makes what is made only once; the second is the one that is done again.
_RECORDED_CALLS = 2
_REASON_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Replayed:
    """``time_s``: the median of the processes' medians, for so many ``operations`` a call; None where it could not be
    done again, for the ``reason``."""

    time_s: float | None = None
    operations: int = 0
    reason: str = ""

    def doubt(self, claim_s: float) -> str:
        """In words, if what was claimed is less than the kernels take by themselves; else empty."""
        if self.time_s is None or claim_s >= self.time_s - slack(self.time_s) - self.operations * ISSUE_S:
            return ""
        return (
            f"a call is said to take {claim_s * 1e6:.1f} µs, but its kernels, launched again without the program's "
            f"host code, take {self.time_s * 1e6:.1f} µs"
        )

    def entry(self) -> dict[str, Any]:
        """What is kept beside the case's time."""
        return (
            {"not_replayed": self.reason[:_REASON_CHARACTERS]} if self.time_s is None else {"replayed_s": self.time_s}
        )


class NotRecorded(Exception):
    """What a submission asks of the device cannot be said; the message tells why."""


def replay_case(bench: Bench, empty: EmptySolve, case: Case, library: bytes, recorded: Callable[[], bytes]) -> Replayed:
    """Times what the submission asks of the device in this case, in processes without its host code. ``recorded`` makes
    its library with the recorder in it, and may raise NotRecorded. Raises Cancelled."""
    try:
        factory = _ReplayFactory.of(bench.factory, record_call(bench, case, recorded()))
        pinned = dataclasses.replace(bench, pack=_pinned(bench.pack, case), cases=(case,), factory=factory)
        trial = Trial(pinned, empty, library)
        time_processes(pinned, [trial])
        [result] = trial.results({})
    except NotRecorded as error:
        return Replayed(reason=str(error))
    except InternalError as error:
        return Replayed(reason=f"the machine could not: {error}")
    if result.timed is None:
        return Replayed(reason=f"{result.outcome.verdict}: {result.outcome.message}")
    return Replayed(statistics.median(map(statistics.median, result.timed.processes)), factory.operations[0])


def record_call(bench: Bench, case: Case, library: bytes) -> bytes:
    """What the submission, built with the recorder, says that it asks of the device in a call. Raises NotRecorded."""
    session = bench.factory.start()
    try:
        inputs = bench.pack.inputs(case, bench.seed)
        layout = lay_out(bench.pack, case, inputs)
        session.load_recorded(library)
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
    """Without other sizes to draw: a recording is of this one's."""
    axes = tuple(dataclasses.replace(axis, min=case.axes.get(axis.name, axis.min)) for axis in pack.axes)
    return dataclasses.replace(pack, axes=axes)


class _ReplaySession(Session):
    """Loads the recording where another would load the submission."""

    recording: bytes
    #: Receives how many operations a call has.
    operations: list[int]

    def load(self, library: bytes) -> None:
        self.operations[:] = [self.load_replay(library, self.recording).counts[0]]


@dataclass(frozen=True, slots=True)
class _ReplayFactory(SessionFactory):
    recording: bytes = b""
    operations: list[int] = dataclasses.field(default_factory=list)

    @classmethod
    def of(cls, factory: SessionFactory, recording: bytes) -> _ReplayFactory:
        fields = {each.name: getattr(factory, each.name) for each in dataclasses.fields(factory)}
        return cls(**fields, recording=recording)

    def start(self) -> Session:
        session = _ReplaySession(self.start_runner(), self.submission, self.bounds, self.cancelled)
        session.recording, session.operations = self.recording, self.operations
        return session
