"""Replays a call on the emulator without the submission's host code, and counts what it executes.

The submission makes two calls in a fresh process, which records what it asks of the device. The recording is a claim,
since both share that process. A second process, which never loads the submission, repeats the recorded launches and
copies with the device code of the compiled library. The outputs of the second call must be right, and the score is
computed from its counts: as on a GPU, what a program sets up or tries out in its first call is not timed. The outputs
of the submission's own two calls must be right as well, so that an answer which a few inputs share is found out.

If the second call copied nothing back to the host, the host's part cannot depend on what its buffers hold. The second
process then gets inputs for it that the first has never seen, so that an answer computed on the host is wrong.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import field
from typing import Any

import numpy as np

from emulator.replay.recording import Transfers
from judge.check.mismatch import without_questions
from judge.compile.artifact import Artifact
from judge.judgement import Mismatch
from judge.packs.data.inputs import make_inputs
from judge.packs.judging import Checker, make_checker
from judge.packs.pack import Case, Pack
from judge.supervisor.case_report import first_mismatch
from judge.supervisor.explainer import LEFT_BEHIND
from judge.supervisor.factory import SessionFactory
from judge.supervisor.layout import Array, lay_out
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import CallRecord, Session
from judge.supervisor.verdict_rules import Outcome, outcome_of_call, outcome_of_ending, outcome_of_refusal
from judge.verdict import Verdict
from judge.wire.frames import FrameError, Op
from judge.wire.messages import ReportClaim, Watch
from judge.wire.recordings import RecordingClaim
from records import dataclass

#: Verdicts that a replay may also give: the work is the submission's, whoever requested it.
_LIMITS = (Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED)
#: Changes the seed, so that the recorded call has other inputs than the replayed one.
_OTHER_SEED = 0x5EC0_4D00
#: The same of the call before it.
_FIRST_SEED = 0xF125_7000
_NOT_THE_ANSWER = (
    "the launches that it recorded do not give the answer when they are run again without the program's host code"
)
_REGISTERED = (
    "it registers memory of the host (cudaHostRegister), which kernels cannot read when they are run again without the"
    " program's host code: allocate such memory by cudaMallocHost"
)
_NO_RECORDING = "what it asked of the device cannot be run again without the program's host code"


@dataclass(frozen=True, slots=True)
class ReplayedCall:
    """The result of a replay, in the process without the submission.

    ``report`` is set if ``outcome`` is AC. If it is not, the submission's own call decides the verdict, unless that is
    right: then ``outcome`` is the verdict.
    """

    outcome: Outcome
    wall_s: float = 0.0
    report: ReportClaim | None = None
    transfers: Transfers = field(default_factory=Transfers)
    #: What the submission uses that no replay has: nothing is known of its time then, and nothing speaks against it.
    uncountable: str = ""
    #: The outcome of the first of the submission's own calls that is wrong, whatever ``outcome`` is.
    wrong: Outcome | None = None


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The recording of a submission's two calls, and these with their outputs."""

    claim: RecordingClaim
    calls: tuple[tuple[CallRecord, dict[str, Array]], ...]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The runners of one replay, and the inputs of its calls, which a thread makes."""

    case: Case
    recorder: Session
    replayer: Session
    first: Future[dict[str, Any]]
    second: Future[dict[str, Any]]
    unseen: Future[tuple[dict[str, Any], Checker]]
    #: Of the first and the second.
    checks: tuple[Future[Checker], Future[Checker]]


class EmulatorReplayer:
    """Replays calls of one submission. Runners start in the calling thread; ``close`` ends unused ones."""

    def __init__(self, factory: SessionFactory, pack: Pack, artifact: Artifact, seed: int) -> None:
        self._factory = factory
        self._pack = pack
        self._artifact = artifact
        self._seed = seed
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="replay")
        self._prepared: _Prepared | None = None

    def prepare(self, case: Case) -> None:
        """Starts the runners of the replay that is asked for next and makes its inputs, in the background."""
        assert self._prepared is None
        self._prepared = self._start(case)

    def close(self) -> None:
        """Ends all work under way. Idempotent."""
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            prepared.recorder.finish()
            prepared.replayer.finish()
        self._ahead.shutdown(cancel_futures=True)

    def judge(self, case: Case) -> ReplayedCall:
        """Records and replays a call of the case. Raises InternalError and Cancelled."""
        prepared, self._prepared = self._prepared or self._start(case), None
        assert prepared.case is case
        with ExitStack() as ending:
            ending.callback(prepared.replayer.finish)
            try:
                recorded = self._record(prepared)
            finally:
                # In the background: its memory is given back while the other one replays.
                ending.callback(self._ahead.submit(prepared.recorder.finish).result)
            if isinstance(recorded, Outcome):
                return ReplayedCall(recorded)
            call = self._replay(prepared, recorded.claim)
            return dataclasses.replace(call, wrong=self._wrong_call(prepared, recorded))

    def _start(self, case: Case) -> _Prepared:
        first = self._ahead.submit(make_inputs, self._pack, case, self._seed ^ _FIRST_SEED)
        second = self._ahead.submit(make_inputs, self._pack, case, self._seed ^ _OTHER_SEED)
        unseen = self._ahead.submit(self._unseen, case)

        def checker(inputs: Future[dict[str, Any]]) -> Checker:
            return make_checker(self._pack, case, inputs.result())

        return _Prepared(
            case,
            recorder=self._factory.start(),
            replayer=self._factory.start(),
            first=first,
            second=second,
            unseen=unseen,
            checks=(self._ahead.submit(checker, first), self._ahead.submit(checker, second)),
        )

    def _unseen(self, case: Case) -> tuple[dict[str, Any], Checker]:
        inputs = make_inputs(self._pack, case, self._seed)
        return inputs, make_checker(self._pack, case, inputs)

    def _record(self, prepared: _Prepared) -> _Recorded | Outcome:
        """Returns the recording of the first two calls, or the outcome if there is none."""
        session = prepared.recorder
        calls = []
        try:
            session.load_recorded(self._artifact)
            for inputs in (prepared.first, prepared.second):
                record, outputs = self._call(session, prepared.case, inputs.result(), Watch.NOTHING)
                outcome = self._outcome(record, lambda: None)
                if outcome.verdict is not Verdict.ACCEPTED:
                    return outcome if outcome.verdict in _LIMITS else _not_replayable(outcome.message)
                calls.append((record, outputs))
            return _Recorded(RecordingClaim.unpack(session.take_recording()), tuple(calls))
        except FrameError as error:
            return _not_replayable(str(error))
        except (RequestRefused, RunnerEnded) as stopped:
            return self._stopped(session, stopped)

    def _wrong_call(self, prepared: _Prepared, recorded: _Recorded) -> Outcome | None:
        """Returns the outcome of the first of the submission's own calls whose outputs are wrong."""
        for number, ((record, outputs), ready) in enumerate(zip(recorded.calls, prepared.checks, strict=True)):
            check = ready.result()
            outcome = self._outcome(record, functools.partial(first_mismatch, check, outputs))
            if outcome.verdict is Verdict.ACCEPTED:
                continue
            if number > 0 and self._is_right_alone(prepared.case, prepared.second.result(), check):
                return dataclasses.replace(outcome, message=f"{LEFT_BEHIND}; {without_questions(outcome.message)}")
            return outcome
        return None

    def _is_right_alone(self, case: Case, inputs: dict[str, Any], check: Checker) -> bool:
        """Returns whether a call is right in a process that makes no other one."""
        session = self._factory.start()
        try:
            session.load(self._artifact)
            record, outputs = self._call(session, case, inputs, Watch.NOTHING)
        except (RequestRefused, RunnerEnded):
            return False
        finally:
            session.finish()
        return self._outcome(record, lambda: first_mismatch(check, outputs)).verdict is Verdict.ACCEPTED

    def _replay(self, prepared: _Prepared, claim: RecordingClaim) -> ReplayedCall:
        """Replays the calls: the first with the inputs that it had, the second with others if it can have others."""
        session, case, recorded = prepared.replayer, prepared.case, prepared.second.result()
        try:
            transfers = Transfers(*session.load_replay(self._artifact, claim.pack()).transfers)
            inputs, check = prepared.unseen.result()
            if transfers.tells_the_host or not self._same_scalars(inputs, recorded):
                inputs, check = recorded, prepared.checks[1].result()
            record, _ = self._call(session, case, prepared.first.result(), Watch.NOTHING)
            outcome = self._outcome(record, lambda: None)
            if outcome.verdict is Verdict.ACCEPTED:
                record, outputs = self._call(session, case, inputs, Watch.PROFILE)
                outcome = self._outcome(record, lambda: first_mismatch(check, outputs))
        except (RequestRefused, RunnerEnded) as stopped:
            return ReplayedCall(self._stopped(session, stopped))
        report = record.fetched.report
        if outcome.verdict in _LIMITS or (report is not None and report.unsupported):
            return ReplayedCall(outcome, record.wall_s)
        if outcome.verdict is not Verdict.ACCEPTED:
            why = f"{_NOT_THE_ANSWER}: {outcome.message}"
            uncountable = _REGISTERED if transfers.registered else ""
            return ReplayedCall(Outcome(Verdict.TIMING_NOT_TRUSTED, uncountable or why), uncountable=uncountable)
        return ReplayedCall(outcome, record.wall_s, report, transfers)

    def _outcome(self, record: CallRecord, compare: Callable[[], Mismatch | None]) -> Outcome:
        return outcome_of_call(
            record.ran,
            record.fetched,
            [argument.name for argument in self._pack.arguments],
            self._factory.bounds.call_s,
            compare,
            reads_are_errors=self._pack.emulator.reads_are_errors,
        )

    def _stopped(self, session: Session, stopped: RequestRefused | RunnerEnded) -> Outcome:
        """Returns the outcome of a session that ended. Raises InternalError if the device did not come up."""
        if isinstance(stopped, RequestRefused):
            if session.last_op is Op.START:
                outcome_of_refusal(stopped.reply, Op.START, 0)
            return _not_replayable(stopped.reply.message)
        outcome = outcome_of_ending(stopped.ending, self._factory.bounds.call_s)
        return outcome if outcome.verdict in _LIMITS else _not_replayable(outcome.message)

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


def _not_replayable(why: str) -> Outcome:
    return Outcome(Verdict.TIMING_NOT_TRUSTED, f"{_NO_RECORDING}: {why}")
