"""Runs functional cases one after the other and judges their outputs. A crash costs its own case only.

A device that can draws the order of warps and blocks from the seed. On such a device one small case is run with all
checks; if they find a race, the case is run in further orders until its outputs are wrong, or often enough.

After two runners have died, the remaining cases are not judged: the verdict is decided, and each further crash costs
time.
"""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Iterator, Sequence

from emulator.wording import wording_of
from judge.check.mismatch import without_questions
from judge.compile.artifact import Artifact
from judge.errors import InternalError
from judge.judgement import OF_WHOLE_LAUNCHES, CaseJudgement, MemoryFault
from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Case, Pack
from judge.packs.sizes import case_bytes, case_flops
from judge.supervisor.case_preparer import CasePreparer, PreparedCase
from judge.supervisor.case_report import case_judgement, first_mismatch, shown_arrays
from judge.supervisor.explainer import Explainer
from judge.supervisor.factory import SessionFactory
from judge.supervisor.fault_claims import NOTES, UNORDERED, fault_of
from judge.supervisor.layout import Array, lay_out
from judge.supervisor.likely_causes import has_one_order
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.second_look import lines_outside_their_part, not_imprecise
from judge.supervisor.session import CallRecord, Session
from judge.supervisor.verdict_rules import (
    FLOODED,
    Outcome,
    RunnerKilled,
    ends_device,
    outcome_of_call,
    outcome_of_ending,
    outcome_of_refusal,
)
from judge.verdict import Verdict
from judge.wire.frames import Failure, Op
from judge.wire.messages import MAX_FAULTS, Watch
from records import dataclass

_MAX_CRASHES = 2
#: The remaining cases are not judged either once runners that crashed or hung have taken this long in total.
_MAX_LOST_S = 15.0
#: So often a call is made again because its runner was killed, perhaps from outside. Then it is taken for the
#: submission's own doing, unless nothing inside the jail can have done it.
_MAX_KILLS = 2
#: The case that is run with all checks is the largest with no more than these: they take a hundred times as long.
_CHECKED_BYTES = 256 << 10
_CHECKED_FLOPS = 1 << 21
#: Orders to try after a race. One shows a missing barrier about half of the time.
_ORDERS = 8
#: Races of blocks, as the emulator names them.
_ON_GLOBAL = "race on global memory"
#: Verdicts for which launches without an order may be the cause.
_MAY_LACK_ORDER = (
    Verdict.WRONG_ANSWER,
    Verdict.RUNTIME_ERROR,
    Verdict.TIME_LIMIT_EXCEEDED,
    Verdict.MEMORY_LIMIT_EXCEEDED,
)
#: Verdicts that the checks themselves may cause.
_OF_THE_CHECKS = (Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED)
#: Verdicts that a case may get since it is run again and again.
_OF_FURTHER_CALLS = (*_OF_THE_CHECKS, Verdict.OUTPUT_LIMIT_EXCEEDED)
_NO_MEMORY = "cudaErrorMemoryAllocation"


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """The judgement of one case, and the record of the call if it returned."""

    judgement: CaseJudgement
    record: CallRecord | None


def _may_be_of_the_checks(outcome: Outcome, watch: Watch) -> bool:
    """Returns whether the verdict could be another without checks, which take long and much memory."""
    return Watch.CHECKS in watch and outcome.verdict in _OF_THE_CHECKS


class CaseRunner:
    """Judges cases in sessions of one submission. ``close`` ends the running session.

    ``started`` is a session to begin with, which may still be starting. ``source`` explains what goes wrong.
    """

    def __init__(
        self,
        factory: SessionFactory,
        pack: Pack,
        artifact: Artifact,
        seed: int,
        *,
        started: Session | None = None,
        source: bytes = b"",
    ):
        self._factory = factory
        self._pack = pack
        self._wording = wording_of(pack.build.language)
        self._artifact = artifact
        self._source = source.decode("utf-8", "replace")
        self._seed = seed
        self._started = started
        self._session: Session | None = None
        self._crashes = 0
        self._kills = 0
        self._lost_s = 0.0
        self._explainer = Explainer(self, pack, artifact, self._source, seed, has_checks=factory.has_checks)
        self._orders = random.Random(seed)  # noqa: S311 (no submission sees its numbers)
        #: Whether a session that ended had printed more than is allowed.
        self.flooded = False

    @property
    def exhausted(self) -> bool:
        """Whether too many runners have crashed for the remaining cases to be judged."""
        return self._crashes >= _MAX_CRASHES or self._lost_s >= _MAX_LOST_S

    def judge_cases(
        self, cases: Sequence[Case], watch: Watch = Watch.NOTHING, *, checked: Sequence[Case] | None = None
    ) -> Iterator[JudgedCase]:
        """Yields the judged cases in order, fewer if ``exhausted``. Raises InternalError and Cancelled.

        ``checked`` are the cases to run with all checks; None: the largest of the small ones.
        """
        if not cases:
            return
        if checked is None:
            checked = sorted(self.small_cases(cases), key=self._size)[-1:]
        with CasePreparer(self._pack, self._seed, cases) as preparer:
            for case in cases:
                # The session is started before the wait for the inputs, so that both go on at the same time.
                self._session = self._session or self._start()
                # Where nothing is checked, only a warp that runs ahead shows a missing barrier at the end of a loop.
                how = Watch.CHECKS if case in checked else watch or Watch.RUNS_AHEAD
                yield self._judge(case, preparer.take(), watch | how)
                if self.exhausted:
                    return

    def small_cases(self, cases: Sequence[Case]) -> list[Case]:
        """Returns the functional cases that can be run with all checks: those that are small, or else the smallest."""
        functional = [case for case in cases if case.group != "benchmark"]
        if not self._factory.has_checks or not functional:
            return []
        return [case for case in functional if self.is_small(case)] or [min(functional, key=self._size)]

    def _size(self, case: Case) -> tuple[float, float]:
        return case_bytes(self._pack, case), case_flops(self._pack, case) or 0.0

    def is_small(self, case: Case) -> bool:
        """Returns whether a case can be run with all checks, and often."""
        size_bytes, flops = self._size(case)
        return size_bytes <= _CHECKED_BYTES and flops <= _CHECKED_FLOPS

    def session(self) -> Session:
        """Returns the current or a new session, with the submission loaded. Raises RunnerEnded, RequestRefused."""
        if self._session is None:
            self._session = self._start()
        if not self._session.loaded:
            self._session.load(self._artifact)
        return self._session

    def discard_session(self) -> None:
        """Ends a session that can no longer be used; the next call starts another."""
        self._crashes += 1
        if self._session is not None:
            session, self._session = self._session, None
            session.finish()

    def outcome_of_refused_request(self, refused: RequestRefused) -> Outcome:
        """Ends a session that refused a request and returns the outcome. Raises InternalError."""
        during = self._session.last_op if self._session is not None else Op.START
        calls = self.calls
        self.discard_session()
        return outcome_of_refusal(refused.reply, during, calls)

    def end_session(self) -> None:
        """Ends the running session."""
        session, self._session = self._session, None
        if session is not None and session.finish():
            self.flooded = True

    def close(self) -> None:
        """Idempotent."""
        self.end_session()
        if self._started is not None:
            self._started.finish()
            self._started = None

    def _start(self) -> Session:
        session, self._started = self._started, None
        return session if session is not None else self._factory.start()

    def _judge(self, case: Case, prepared_case: PreparedCase, watch: Watch) -> JudgedCase:
        """Raises InternalError when runners are killed from outside again and again."""
        while True:
            try:
                return self._judge_once(case, prepared_case, watch)
            except RunnerKilled as killed:
                self.end_session()
                self._kills += 1
                if self._kills <= _MAX_KILLS:
                    continue
                if killed.outcome is None:
                    raise
                self._crashes += 1
                return JudgedCase(case_judgement(case, killed.outcome, 0.0), None)

    def _judge_once(self, case: Case, prepared_case: PreparedCase, watch: Watch) -> JudgedCase:
        bounds = self._factory.bounds
        record = outputs = None
        printed = ""
        started = time.monotonic()
        try:
            try:
                record, outputs, printed = self.call(case, prepared_case, watch)
            except RequestRefused as refused:
                if refused.reply.failure != Failure.MEMORY or self.calls < 2:
                    raise
                # Earlier calls may have left device memory allocated, which is no wrong answer: try a fresh process.
                self.end_session()
                record, outputs, printed = self.call(case, prepared_case, watch)
        except RunnerEnded as ended:
            is_public = prepared_case.answers is not None
            outcome = outcome_of_ending(ended.ending, bounds.call_s, is_public=is_public)
            printed = ended.ending.printed
            if _may_be_of_the_checks(outcome, watch):
                return self._judge_without_checks(case, prepared_case, watch)
            self.discard_session()
            self._lost_s += time.monotonic() - started
        except RequestRefused as refused:
            outcome = self.outcome_of_refused_request(refused)
        else:
            outcome = self._outcome_of_call(prepared_case, record, outputs)
            if _may_be_of_the_checks(outcome, watch):
                return self._judge_without_checks(case, prepared_case, watch)
            if self._session is not None and self._session.runner.flooded:
                outcome = Outcome(Verdict.OUTPUT_LIMIT_EXCEEDED, FLOODED)
                self.discard_session()
            elif ends_device(record.ran, record.fetched):
                self.discard_session()
            elif outcome.verdict is Verdict.ACCEPTED and Watch.CHECKS in watch:
                outside = lines_outside_their_part(record.fetched, self._source)
                notes = [fault_of(claim) for claim in record.fetched.report.faults] if record.fetched.report else []
                unordered = [note for note in notes if note.kind in UNORDERED]
                outcome = self._in_other_orders(case, prepared_case, outcome, outside, unordered)
            elif outcome.verdict is Verdict.WRONG_ANSWER:
                outcome = self._explainer.explain(prepared_case, outcome, outputs, record.wall_s)
        if outcome.verdict in _MAY_LACK_ORDER:
            outcome = self._explainer.with_missing_order(prepared_case, outcome)
        wall_s = record.wall_s if record else 0.0
        shown = shown_arrays(self._pack, prepared_case, outputs)
        return JudgedCase(case_judgement(case, outcome, wall_s, printed, shown), record)

    def _judge_without_checks(self, case: Case, prepared_case: PreparedCase, watch: Watch) -> JudgedCase:
        """Judges the case again in a new session, since a device on which a kernel was stopped makes no more calls."""
        self.end_session()
        return self._judge_once(case, prepared_case, watch & ~Watch.CHECKS | Watch.RUNS_AHEAD)

    def _in_other_orders(
        self,
        case: Case,
        prepared_case: PreparedCase,
        right: Outcome,
        outside: tuple[MemoryFault, ...],
        unordered: Sequence[MemoryFault],
    ) -> Outcome:
        """Returns a right answer, or the wrong one or the error that another order of warps gives, if it has a race.

        ``outside`` are lines that leave their part of shared memory: they may explain a wrong answer. ``unordered`` are
        atomics, volatile and relaxed accesses without a fence or ``__syncwarp()``, which are no races: they need no
        word where the answer is right.
        """
        races = [fault for fault in right.memory_errors if fault.other is not None]
        between_blocks = [fault for fault in races if fault.kind == _ON_GLOBAL]
        of_lanes = any(has_one_order(fault) for fault in (*races, *unordered))
        for number in range(_ORDERS if races or unordered else 0):
            # Half of them let one warp run ahead: only those show that it overwrites what others still read.
            order = Watch.RUNS_AHEAD if number % 2 else Watch.NOTHING
            # Whether a late store of a block matters depends on which block is the last: more of them show it.
            is_late = number % (2 if between_blocks else 4) == 1 and bool(between_blocks or of_lanes or unordered)
            if not races and not is_late:
                continue
            race = [*(between_blocks if is_late and not of_lanes else ()), *races, *unordered][0]
            if is_late:
                # Stores that were seen to race come late, too: the load of another block or lane does not find them.
                order |= Watch.CHECKS
            if number < 2 and race.kind in OF_WHOLE_LAUNCHES:
                # What the last call left behind would be right for this one.
                self.end_session()
            if is_late:
                # Nor does it find what the last call left there, unless that comes of the same inputs. This call itself
                # decides nothing.
                others = make_inputs(self._pack, case, self._orders.getrandbits(32))
                self._outcome_in_order(case, dataclasses.replace(prepared_case, inputs=others), Watch.NOTHING)
            wrong = self._outcome_in_order(case, prepared_case, order)
            if wrong is None:
                break
            if wrong.verdict is not Verdict.ACCEPTED:
                told = "; ".join(fault.message for fault in (*outside[:1], race))
                what = "threads" if is_late and of_lanes else "warps"
                stopped_by = [each for each in wrong.memory_errors if each.other is None and each.kind not in NOTES]
                stopped_by = stopped_by if wrong.mismatch is None else []
                found = (*stopped_by, *right.memory_errors, *(() if races else unordered[:1]), *outside)[:MAX_FAULTS]
                if wrong.mismatch is not None and wrong.mismatch.imprecise is not None:
                    wrong = not_imprecise(wrong)
                message = f"{without_questions(wrong.message)}, in another order of {what}: {told}"
                return dataclasses.replace(wrong, message=message, memory_errors=found)
        return dataclasses.replace(right, message=races[0].message) if races else right

    def _outcome_in_order(self, case: Case, prepared_case: PreparedCase, order: Watch) -> Outcome | None:
        """Returns the outcome of a further call of an accepted case; None where the submission may not be to blame.

        A further call takes time and memory that the submission need not have, and may come upon what the device does
        not support. A session that makes no more calls is ended.
        """
        try:
            record, outputs, _ = self.call(case, prepared_case, order)
        except RunnerEnded as ended:
            self.end_session()
            is_public = prepared_case.answers is not None
            try:
                outcome = outcome_of_ending(ended.ending, self._factory.bounds.call_s, is_public=is_public)
            except InternalError:
                return None
        except RequestRefused as refused:
            during, calls = self._session.last_op if self._session is not None else Op.START, self.calls
            self.end_session()
            try:
                outcome = outcome_of_refusal(refused.reply, during, calls)
            except InternalError:
                return None
        else:
            outcome = self._outcome_of_call(prepared_case, record, outputs)
            if ends_device(record.ran, record.fetched):
                self.end_session()
            report = record.fetched.report
            if report is not None and (report.unsupported or any(call.name == _NO_MEMORY for call in report.calls)):
                return None
        return None if outcome.verdict in _OF_FURTHER_CALLS else outcome

    def _outcome_of_call(self, prepared_case: PreparedCase, record: CallRecord, outputs: dict[str, Array]) -> Outcome:
        return outcome_of_call(
            record.ran,
            record.fetched,
            [argument.name for argument in self._pack.arguments],
            self._factory.bounds.call_s,
            lambda: first_mismatch(prepared_case.check, outputs, _launches(record), self._wording),
            reads_are_errors=self._pack.emulator.reads_are_errors,
            call_lines=self._artifact.call_lines,
            source=self._source,
            file_name=self._artifact.file_name,
            wording=self._wording,
        )

    def call(
        self, case: Case, prepared_case: PreparedCase, watch: Watch, *, in_order: bool = False
    ) -> tuple[CallRecord, dict[str, Array], str]:
        """Returns the call's record, its outputs, and what the program printed since the last call.

        ``in_order``: warps run, and launches and copies are made, in the order that the program has them in.
        """
        session = self.session()
        layout = lay_out(self._pack, case, prepared_case.inputs)
        layout.put_inputs(session.runner.inputs, prepared_case.inputs)
        layout.clear_outputs(session.runner.outputs)
        seed = self._orders.getrandbits(63) + 1 if self._factory.has_checks and not in_order else 0
        record = session.call(dataclasses.replace(layout.request, watch=watch, schedule_seed=seed))
        return record, layout.take_outputs(session.runner.outputs), session.runner.take_output()

    @property
    def calls(self) -> int:
        """How many calls the running session has made."""
        return self._session.calls if self._session is not None else 0


def _launches(record: CallRecord) -> int | None:
    """Returns how many kernels the call launched; None on a device that does not count them."""
    return None if record.fetched.report is None else record.fetched.report.launches
