"""A call on the emulator, counted where the submission's host code is not.

The submission makes the call in a fresh process, which records what it asks of the device: a claim, since they share
that process. A second process, which never loads the submission, does the same launches and copies again with the
device code of the library that the compiler made. Its outputs must be right, and its counts are what the score is made
of.

If nothing was copied back to the host, its part cannot depend on what the buffers held: the second process gets inputs
that the first has never seen, so that no answer computed on the host fits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from emulator.replay import Transfers
from judge.judgement import Mismatch
from judge.packs.pack import Case, Pack
from judge.runner.frames import FrameError, Op
from judge.runner.messages import ReportClaim, Watch
from judge.runner.recordings import RecordingClaim
from judge.supervisor.factory import SessionFactory
from judge.supervisor.feeder import first_mismatch
from judge.supervisor.layout import Array, lay_out
from judge.supervisor.outcome import Outcome, outcome_of_call, outcome_of_ending, outcome_of_refusal
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import CallRecord, Session
from judge.verdict import Verdict

#: What a replay may show, too: the work is the submission's, whoever asked for it.
_LIMITS = (Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED)
#: The recorded call has contents of its own.
_OTHER_SEED = 0x5EC0_4D00
_NOT_THE_ANSWER = (
    "the launches that it recorded do not give the answer when they are run again without the program's host code"
)
_NO_RECORDING = "what it asked of the device cannot be run again without the program's host code"


@dataclass(frozen=True, slots=True)
class ReplayedCall:
    """``report`` and ``transfers`` are those of the process without the submission; the report is there if ``outcome``
    is accepted. Otherwise what the submission itself does decides on the verdict; if that is right, it is this one."""

    outcome: Outcome
    wall_s: float = 0.0
    report: ReportClaim | None = None
    transfers: Transfers = field(default_factory=Transfers)


class Replays:
    """Of one submission. Runners start in the thread that calls; ``close`` ends those that were not used."""

    def __init__(self, factory: SessionFactory, pack: Pack, library: bytes, seed: int) -> None:
        self._factory = factory
        self._pack = pack
        self._library = library
        self._seed = seed
        self._waiting: list[Session] = []

    def begin(self) -> None:
        """Starts the runners of the next case, so that they come up meanwhile."""
        while len(self._waiting) < 2:
            self._waiting.append(self._factory.start())

    def close(self) -> None:
        """Idempotent."""
        while self._waiting:
            self._waiting.pop().finish()

    def judge(self, case: Case) -> ReplayedCall:
        """Raises InternalError and Cancelled."""
        self.begin()
        recorder, replayer = self._waiting
        with ThreadPoolExecutor(1, thread_name_prefix="replay") as ahead:
            try:
                question = ahead.submit(self._question, case, self._seed)
                inputs = self._pack.inputs(case, self._seed ^ _OTHER_SEED)
                claim = self._record(recorder, case, inputs)
                recorder.finish()
                if isinstance(claim, Outcome):
                    return ReplayedCall(claim)
                return self._replay(replayer, case, claim, inputs, question)
            finally:
                self.close()

    def _question(self, case: Case, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        inputs = self._pack.inputs(case, seed)
        return inputs, self._pack.expected(case, inputs)

    def _record(self, session: Session, case: Case, inputs: dict[str, Any]) -> RecordingClaim | Outcome:
        """What the submission asks of the device in this call, or why that cannot be said."""
        try:
            session.load_recorded(self._library)
            record, _ = self._call(session, case, inputs, Watch.NOTHING)
            outcome = self._outcome(record, Watch.NOTHING, lambda: None)
            if outcome.verdict is not Verdict.ACCEPTED:
                return outcome if outcome.verdict in _LIMITS else _not_again(outcome.message)
            return RecordingClaim.unpack(session.take_recording())
        except FrameError as error:
            return _not_again(str(error))
        except (RequestRefused, RunnerEnded) as stopped:
            return self._stopped(session, stopped, Watch.NOTHING)

    def _replay(
        self, session: Session, case: Case, claim: RecordingClaim, recorded: dict[str, Any],
        question: Future[tuple[dict[str, Any], dict[str, Any]]],
    ) -> ReplayedCall:  # fmt: skip
        try:
            transfers = Transfers(*session.load_replay(self._library, claim.pack()).counts)
            inputs, expected = question.result()
            if transfers.tells_the_host or not self._same_scalars(inputs, recorded):
                inputs, expected = recorded, self._pack.expected(case, recorded)
            record, outputs = self._call(session, case, inputs, Watch.PROFILE)
        except (RequestRefused, RunnerEnded) as stopped:
            return ReplayedCall(self._stopped(session, stopped, Watch.PROFILE))
        outcome = self._outcome(record, Watch.PROFILE, lambda: first_mismatch(expected, outputs))
        report = record.fetched.report
        if outcome.verdict in _LIMITS or (report is not None and report.unsupported):
            return ReplayedCall(outcome, record.wall_s)
        if outcome.verdict is not Verdict.ACCEPTED:
            return ReplayedCall(Outcome(Verdict.TIMING_NOT_TRUSTED, f"{_NOT_THE_ANSWER}: {outcome.message}"))
        return ReplayedCall(outcome, record.wall_s, report, transfers)

    def _outcome(self, record: CallRecord, watch: Watch, compare: Callable[[], Mismatch | None]) -> Outcome:
        return outcome_of_call(
            record.ran, record.fetched, [argument.name for argument in self._pack.arguments],
            self._factory.bounds.kernel_s(watch), compare, reads_are_errors=self._pack.emulator.reads_are_errors,
        )  # fmt: skip

    def _stopped(self, session: Session, stopped: RequestRefused | RunnerEnded, watch: Watch) -> Outcome:
        """Raises InternalError when the device did not come up."""
        if isinstance(stopped, RequestRefused):
            if session.last_op is Op.START:
                outcome_of_refusal(stopped.reply, Op.START, 0)
            return _not_again(stopped.reply.message)
        outcome = outcome_of_ending(stopped.ending, self._factory.bounds.solve_s(watch))
        return outcome if outcome.verdict in _LIMITS else _not_again(outcome.message)

    def _call(
        self, session: Session, case: Case, inputs: dict[str, Any], watch: Watch
    ) -> tuple[CallRecord, dict[str, Array]]:
        layout = lay_out(self._pack, case, inputs)
        layout.put_inputs(session.runner.inputs, inputs)
        layout.clear_outputs(session.runner.outputs)
        record = session.call(dataclasses.replace(layout.request, watch=watch))
        return record, layout.take_outputs(session.runner.outputs)

    def _same_scalars(self, one: dict[str, Any], other: dict[str, Any]) -> bool:
        names = [argument.name for argument in self._pack.arguments if argument.role == "scalar"]
        return all(np.array_equal(one[name], other[name]) for name in names)


def _not_again(why: str) -> Outcome:
    return Outcome(Verdict.TIMING_NOT_TRUSTED, f"{_NO_RECORDING}: {why}")
