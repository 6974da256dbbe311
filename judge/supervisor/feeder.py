"""Feeds cases to runners, one after the other, and judges what comes back. A crash costs its own case only.

The next cases' inputs and expected outputs are computed while the runner works on this one. After two runners have died
the rest is not judged: the verdict is decided, and each further death costs time.
"""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

from judge.check.compare import compare
from judge.check.tolerance import Expected
from judge.judgement import CaseJudgement, Mismatch
from judge.packs.pack import Case, Pack
from judge.runner.frames import Failure, Op
from judge.runner.messages import Watch
from judge.supervisor.factory import SessionFactory
from judge.supervisor.layout import Array, argument_bytes, lay_out
from judge.supervisor.outcome import (
    STICKY,
    Outcome,
    outcome_of_call,
    outcome_of_ending,
    outcome_of_refusal,
    with_checks,
)
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import CallRecord, Session
from judge.verdict import Verdict

_MAX_DEATHS = 2
#: Nor does anybody wait longer than this, all told, for runners that did not come back.
_MAX_LOST_S = 15.0
_AHEAD_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Question:
    """A case with its contents: what goes in, and what should come out."""

    case: Case
    inputs: dict[str, Any]
    expected: dict[str, Expected]


@dataclass(frozen=True, slots=True)
class Answer:
    """The judgement of one case, and the call it rests on where one came back."""

    judgement: CaseJudgement
    record: CallRecord | None


class _Questions:
    """Poses questions in a thread, in the order of their cases, ahead of those who take them: the next one always, and
    more as long as their arguments take no more than _AHEAD_BYTES together. A context manager."""

    def __init__(self, pack: Pack, seed: int, cases: Sequence[Case]) -> None:
        self._pack = pack
        self._seed = seed
        self._cases = deque(cases)
        self._coming: deque[tuple[int, Future[Question]]] = deque()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="cases")

    def __enter__(self) -> Self:
        self._go_ahead()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def take(self) -> Question:
        """The next one."""
        _, coming = self._coming.popleft()
        question = coming.result()
        self._go_ahead()
        return question

    def _go_ahead(self) -> None:
        while self._cases:
            size = sum(argument_bytes(self._pack, self._cases[0], argument) for argument in self._pack.arguments)
            if self._coming and sum(each for each, _ in self._coming) + size > _AHEAD_BYTES:
                return
            self._coming.append((size, self._pool.submit(self._pose, self._cases.popleft())))

    def _pose(self, case: Case) -> Question:
        inputs = self._pack.inputs(case, self._seed)
        return Question(case, inputs, self._pack.expected(case, inputs))


class Feeder:
    """Owns the sessions of one submission. ``close`` ends what runs."""

    def __init__(
        self, factory: SessionFactory, pack: Pack, library: bytes, seed: int, *, started: Session | None = None
    ):
        self._factory = factory
        self._pack = pack
        self._library = library
        self._seed = seed
        self._fresh = started
        self._session: Session | None = None
        self._deaths = 0
        self._lost_s = 0.0
        self._explained = False
        #: Whether a session that ended had printed more than is allowed.
        self.flooded = False

    @property
    def exhausted(self) -> bool:
        """Whether too many runners have died for the rest to be worth judging."""
        return self._deaths >= _MAX_DEATHS or self._lost_s >= _MAX_LOST_S

    def judge_cases(self, cases: Sequence[Case], watch: Watch = Watch.NOTHING) -> Iterator[Answer]:
        """The answers, in order; fewer than cases when it is exhausted. Raises InternalError and Cancelled."""
        if not cases:
            return
        with _Questions(self._pack, self._seed, cases) as questions:
            for case in cases:
                # Started before the wait for the inputs, so that both go on at the same time.
                self._session = self._session or self._start()
                yield self._judge(case, questions.take(), watch)
                if self.exhausted:
                    return

    def session(self) -> Session:
        """The session that has judged so far, or a new one, loaded. Raises RunnerEnded, RequestRefused."""
        if self._session is None:
            self._session = self._start()
        if not self._session.loaded:
            self._session.load(self._library)
        return self._session

    def bury(self) -> None:
        """Lets go of a session that is of no more use; the next call starts a fresh one."""
        self._deaths += 1
        if self._session is not None:
            session, self._session = self._session, None
            session.finish()

    def bury_after(self, refused: RequestRefused) -> Outcome:
        """Lets go of a session that could not do what it was asked, and says what that means. Raises InternalError."""
        during = self._session.last_op if self._session is not None else Op.START
        calls = self._calls()
        had_room = self._session is not None and self._session.had_room
        self.bury()
        return outcome_of_refusal(refused.reply, during, calls, had_room=had_room)

    def end_session(self) -> None:
        """Ends what runs."""
        session, self._session = self._session, None
        if session is not None and session.finish():
            self.flooded = True

    def close(self) -> None:
        """Idempotent."""
        self.end_session()
        if self._fresh is not None:
            self._fresh.finish()
            self._fresh = None

    def _start(self) -> Session:
        session, self._fresh = self._fresh, None
        return session if session is not None else self._factory.start()

    def _judge(self, case: Case, question: Question, watch: Watch) -> Answer:
        bounds = self._factory.bounds
        record = None
        started = time.monotonic()
        try:
            try:
                record, outputs = self._call(case, question, watch)
            except RequestRefused as refused:
                if refused.reply.failure != Failure.MEMORY or self._calls() < 2:
                    raise
                # Earlier calls may have left device memory allocated: bad manners, no wrong answer. Once more, afresh.
                self.end_session()
                record, outputs = self._call(case, question, watch)
        except RunnerEnded as ended:
            self.bury()
            self._lost_s += time.monotonic() - started
            outcome = outcome_of_ending(ended.ending, bounds.solve_s(watch))
        except RequestRefused as refused:
            outcome = self.bury_after(refused)
        else:
            names = [argument.name for argument in self._pack.arguments]
            outcome = outcome_of_call(
                record.ran, record.fetched, names, bounds.kernel_s(watch),
                lambda: first_mismatch(question.expected, outputs),
                reads_are_errors=self._pack.emulator.reads_are_errors,
            )  # fmt: skip
            if self._session is not None and self._session.runner.flooded:
                outcome = Outcome(Verdict.OUTPUT_LIMIT_EXCEEDED, "it printed more than is allowed")
                self.bury()
            elif record.ran.name in STICKY:
                self.bury()
            elif outcome.verdict is Verdict.WRONG_ANSWER:
                outcome = self._explain(case, question, outcome)
        return Answer(case_judgement(case, outcome, record.wall_s if record else 0.0), record)

    def _explain(self, case: Case, question: Question, wrong: Outcome) -> Outcome:
        """The first wrong answer, with what running it again with every check of the emulator shows."""
        if not self._factory.emulated or self._explained:
            return wrong
        self._explained = True
        try:
            record, _ = self._call(case, question, Watch.CHECKS)
        except (RunnerEnded, RequestRefused):
            # It came back the first time; what it does now is no verdict on the case.
            self.end_session()
            return wrong
        if record.ran.name in STICKY:
            self.end_session()
        return with_checks(wrong, record.fetched)

    def _call(self, case: Case, question: Question, watch: Watch) -> tuple[CallRecord, dict[str, Array]]:
        session = self.session()
        layout = lay_out(self._pack, case, question.inputs)
        layout.put_inputs(session.runner.inputs, question.inputs)
        layout.clear_outputs(session.runner.outputs)
        record = session.call(dataclasses.replace(layout.request, watch=watch))
        return record, layout.take_outputs(session.runner.outputs)

    def _calls(self) -> int:
        return self._session.calls if self._session is not None else 0


def first_mismatch(expected: dict[str, Expected], outputs: dict[str, Array]) -> Mismatch | None:
    """The first output that is wrong, every element looked at."""
    for name, want in expected.items():
        mismatch = compare(name, want, outputs[name].reshape(want.values.shape))
        if mismatch is None:
            continue
        if not outputs[name].any():
            # A launch that was refused leaves no other trace: its error stays in the submission's own CUDA runtime.
            hint = f"{mismatch.message}; all of {name} is 0: was the kernel launched? (cudaGetLastError() tells)"
            return dataclasses.replace(mismatch, message=hint)
        return mismatch
    return None


def case_judgement(case: Case, outcome: Outcome, wall_s: float) -> CaseJudgement:
    """An outcome as part of a judgement."""
    return CaseJudgement(
        id=case.id,
        group=case.group,
        verdict=outcome.verdict,
        wall_s=wall_s,
        message=outcome.message,
        mismatch=outcome.mismatch,
        memory_errors=outcome.memory_errors,
    )
