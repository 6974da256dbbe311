"""Says of a wrong answer or an error why it may be so: from its numbers, the compiled code, and further calls.

Nothing here changes a verdict. Each kind of trial is made for the first wrong answers only, since it takes time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from emulator.wording import wording_of
from judge.check.mismatch import IMPRECISE, without_questions
from judge.compile.artifact import Artifact
from judge.compile.source_files import own_lines
from judge.judgement import OF_WHOLE_LAUNCHES, Mismatch
from judge.packs.checkers import mistake_in
from judge.packs.errors import PackError
from judge.packs.pack import Case, Pack
from judge.supervisor.case_preparer import PreparedCase, prepare_case, scaled_down
from judge.supervisor.case_report import first_mismatch
from judge.supervisor.extreme_starts import blamed, shortest
from judge.supervisor.fault_claims import fault_of
from judge.supervisor.first_wrong import first_wrong, first_wrong_size
from judge.supervisor.layout import Array
from judge.supervisor.likely_causes import precision, ptx_texts, with_cause
from judge.supervisor.likely_readings import likely_reading
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.second_look import not_imprecise, with_checks
from judge.supervisor.session import CallRecord, Session
from judge.supervisor.verdict_rules import Outcome, ends_device
from judge.wire.elements import Element
from judge.wire.frames import MAX_PAYLOAD
from judge.wire.messages import MAX_FAULTS, Watch

#: In so many orders a wrong answer is the same before a race beside it is taken for another fault.
_SAME_ORDERS = 4
#: A call may have taken so long if it is to be made again a few times with changed kernels.
_QUICK_S = 1.0
#: Of so many unexplained wrong answers is asked what they would be right for.
_MOST_READINGS = 2
#: Elements to which floats are converted where the challenge wants it.
_HALVES = (Element.FLOAT16, Element.BFLOAT16)
#: Said of a wrong answer that is right in a process which has made no other call.
LEFT_BEHIND = (
    "the same call is right in a new process: what earlier calls left there, in variables or in memory, makes it wrong"
)
#: Said of a wrong answer that is infinite or no number, and of code that computes exponentials besides.
TOO_LARGE = "a number on the way is too large: with inputs scaled down to at most 1 the answer is right"
_EXPONENTIAL = " (in single precision e^x overflows above x = 88.7)"
#: Calls of programs whose launches, copies and host code may miss an order.
_UNORDERED = re.compile(r"\bcuda\w*(?:Stream|Async|Managed|Host)")


class Caller(Protocol):
    """The object that makes further calls: ``judge.supervisor.case_runner.CaseRunner``."""

    @property
    def calls(self) -> int: ...

    def session(self) -> Session: ...

    def end_session(self) -> None: ...

    def is_small(self, case: Case) -> bool: ...

    def call(
        self, case: Case, prepared_case: PreparedCase, watch: Watch, *, in_order: bool = False
    ) -> tuple[CallRecord, dict[str, Array], str]: ...


class Explainer:
    """Explains the wrong answers of one submission. ``has_checks``: its device runs cases with all checks."""

    def __init__(
        self, caller: Caller, pack: Pack, artifact: Artifact, source: str, seed: int, *, has_checks: bool
    ) -> None:
        self._caller = caller
        self._pack = pack
        self._artifact = artifact
        self._source = source
        self._seed = seed
        self._has_checks = has_checks
        self._wording = wording_of(pack.build.language)
        # Whether an answer was wrong by more than roundings, or a fault of memory was found beside one.
        self._is_more_than_rounding = False
        self._tried = self._explained = self._counted_rounds = self._tried_starts = False
        self._readings_left = _MOST_READINGS
        self._tried_sizes = False
        self._tried_alone = self._tried_order = self._tried_smaller = self._mistake_fails = False

    def explain(self, prepared_case: PreparedCase, wrong: Outcome, outputs: dict[str, Array], wall_s: float) -> Outcome:
        """Returns a wrong answer with what can be said of its cause. ``wall_s`` is how long the call took."""
        case, calls = prepared_case.case, self._caller.calls
        is_first = not self._tried
        explained = self._with_checks(case, prepared_case, self._with_cause(prepared_case, wrong, outputs), outputs)
        if self._has_checks and calls > 1 and wall_s <= _QUICK_S and self._is_right_alone(prepared_case, explained):
            self._tried_starts = True
            return dataclasses.replace(explained, message=f"{LEFT_BEHIND}; {without_questions(explained.message)}")
        if self._has_checks and is_first and not self._explained and self._caller.is_small(case):
            # What memory holds that an earlier call allocated, without checks, nobody knows.
            self._caller.end_session()
            explained = self._with_checks(case, prepared_case, explained, outputs)
        explained = self._with_first_wrong_round(case, explained)
        started = self._with_start(prepared_case, explained, wall_s)
        if started is explained:
            started = self._with_overflow(prepared_case, explained, wall_s)
        if started.message != wrong.message:
            return started
        read = self._with_reading(prepared_case, started, outputs)
        return self._with_first_wrong_size(case, read, wall_s) if read is started else read

    def _is_right_alone(self, prepared_case: PreparedCase, wrong: Outcome) -> bool:
        """Returns whether the call of the first wrong answer is wrong again after others, and right before any.

        Where a fault of memory was found, such as a race, that explains it.
        """
        mismatch = wrong.mismatch
        if self._tried_alone or mismatch is None or _is_called_imprecise(wrong) or wrong.memory_errors:
            return False
        self._tried_alone = True
        if self._is_right_now(prepared_case, Watch.RUNS_AHEAD) is not False:
            return False
        # Twice: an answer that depends on the order of warps may be right once.
        for order in (Watch.NOTHING, Watch.RUNS_AHEAD):
            self._caller.end_session()
            if self._is_right_now(prepared_case, order) is not True:
                return False
        return True

    def with_missing_order(self, prepared_case: PreparedCase, failed: Outcome) -> Outcome:
        """Returns an outcome that is not accepted with the order that streams or the host lack, if they do.

        A kernel that reads what another stream has not written yet may fail before that stream's work begins, so that
        no check sees the two meet. So the case is run once more, with all work in the order of the calls.
        """
        case = prepared_case.case
        if (
            not self._has_checks
            or self._tried_order
            or any(fault.kind in OF_WHOLE_LAUNCHES for fault in failed.memory_errors)
            or not (self._caller.is_small(case) and _UNORDERED.search(self._source))
        ):
            return failed
        self._tried_order = True
        self._caller.end_session()
        try:
            record, _, _ = self._caller.call(case, prepared_case, Watch.CHECKS, in_order=True)
        except (RunnerEnded, RequestRefused):
            self._caller.end_session()
            return failed
        if ends_device(record.ran, record.fetched):
            self._caller.end_session()
        own = own_lines(self._source, self._artifact.file_name)
        claims = record.fetched.report.faults if record.fetched.report else ()
        found = [fault_of(claim, self._artifact.call_lines, own) for claim in claims if claim.kind in OF_WHOLE_LAUNCHES]
        if not found:
            return failed
        message = "; likely cause: ".join(filter(None, (failed.message, found[0].message)))
        faults = (*failed.memory_errors[: MAX_FAULTS - 1], found[0])
        return dataclasses.replace(failed, message=message, memory_errors=faults)

    def _with_cause(self, prepared_case: PreparedCase, wrong: Outcome, outputs: dict[str, Array]) -> Outcome:
        """Returns a wrong answer with the cause that its numbers, or the compiled code, suggest."""
        mismatch = wrong.mismatch
        if mismatch is None:
            return wrong
        wrong, mismatch = self._without_unlikely_imprecision(wrong, mismatch)
        if mismatch.imprecise is None and (told := self._mistake(prepared_case, outputs)):
            return dataclasses.replace(wrong, message=f"{told}; {without_questions(wrong.message)}")
        message = with_cause(
            wrong.message,
            mismatch,
            self._artifact,
            self._source,
            is_byte=outputs[mismatch.output].dtype.itemsize == 1,
            has_halves=self._has_halves,
            wording=self._wording,
        )
        return dataclasses.replace(wrong, message=message)

    def _mistake(self, prepared_case: PreparedCase, outputs: dict[str, Array]) -> str:
        """Returns the mistake that the pack recognizes in a small case's outputs, in words; empty where it does not."""
        if self._mistake_fails or not self._caller.is_small(prepared_case.case):
            return ""
        try:
            return mistake_in(self._pack, prepared_case.case, prepared_case.inputs, outputs)
        except PackError:
            # The answer is wrong all the same. Authors learn of it from ``judge.verify.cases``.
            self._mistake_fails = True
            return ""

    def _without_unlikely_imprecision(self, wrong: Outcome, mismatch: Mismatch) -> tuple[Outcome, Mismatch]:
        """Returns a wrong answer that is not called imprecise if what was wrong before it explains more.

        Code with less precision than a float may be imprecise beside whatever else is wrong with it.
        """
        if mismatch.imprecise is None:
            self._is_more_than_rounding = True
            return wrong, mismatch
        artifact = self._artifact
        if not self._is_more_than_rounding or precision(
            artifact.library, self._source, artifact.file_name, has_halves=self._has_halves
        ):
            return wrong, mismatch
        outcome = not_imprecise(wrong)
        assert outcome.mismatch is not None
        return outcome, outcome.mismatch

    @property
    def _has_halves(self) -> bool:
        return any(argument.element in _HALVES for argument in self._pack.arguments)

    def _with_start(self, prepared_case: PreparedCase, wrong: Outcome, wall_s: float) -> Outcome:
        """Returns the first wrong answer with the start of a maximum or minimum that makes it wrong, if one does."""
        mismatch = wrong.mismatch
        quick = self._has_checks and wall_s <= _QUICK_S
        if mismatch is None or _is_called_imprecise(wrong) or self._tried_starts or not quick:
            return wrong
        self._tried_starts = True

        # An answer that depends on the order of warps is right now and then, whatever starts where.
        has_race = any(fault.other is not None for fault in wrong.memory_errors)
        orders = (Watch.NOTHING, Watch.RUNS_AHEAD) * (_SAME_ORDERS // 2) if has_race else (Watch.NOTHING,)

        def answers(texts: Sequence[str]) -> Iterator[bool | None]:
            for order in orders:
                yield self._is_right_now(prepared_case, order, lambda: self._caller.session().mutate(texts))

        own = own_lines(self._source, self._artifact.file_name)
        before = self._caller.calls
        texts = shortest(ptx_texts(self._artifact.library), MAX_PAYLOAD // 2)
        told = blamed(texts, own, lambda changed: all(answers(changed)), self._wording)
        # Unchanged kernels, loaded anew as well, must still be wrong.
        is_cause = told and not any(answers(()))
        if self._caller.calls != before:
            self._caller.end_session()
        return dataclasses.replace(wrong, message=f"{told}; {without_questions(wrong.message)}") if is_cause else wrong

    def _with_overflow(self, prepared_case: PreparedCase, wrong: Outcome, wall_s: float) -> Outcome:
        """Returns the first wrong answer that is infinite or NaN, with the cause if it is right with smaller inputs."""
        mismatch = wrong.mismatch
        quick = self._has_checks and wall_s <= _QUICK_S and self._caller.is_small(prepared_case.case)
        if mismatch is None or wrong.memory_errors or self._tried_smaller or not quick:
            return wrong
        # Those that JSON cannot carry are words.
        finite = [[not isinstance(each, str) for each in numbers] for numbers in (mismatch.got, mismatch.expected)]
        if all(finite[0]) or not all(finite[1]):
            return wrong
        self._tried_smaller = True
        before = self._caller.calls
        is_right = as_before = None
        with contextlib.suppress(PackError):
            # References and checks may not take such inputs.
            if (smaller := scaled_down(self._pack, prepared_case)) is not None:
                is_right, as_before = (self._is_right_now(each, Watch.NOTHING) for each in (smaller, prepared_case))
        if self._caller.calls != before:
            self._caller.end_session()
        # In the same order of warps the call itself must still be wrong.
        if not is_right or as_before is not False:
            return wrong
        has_exponential = any("ex2.approx" in text for text in ptx_texts(self._artifact.library))
        told = TOO_LARGE + (_EXPONENTIAL if has_exponential else "")
        return dataclasses.replace(wrong, message=f"{told}; {without_questions(wrong.message)}")

    def _with_reading(self, prepared_case: PreparedCase, wrong: Outcome, outputs: dict[str, Array]) -> Outcome:
        """Returns a wrong answer of which nothing is known yet with what it would be right for."""
        mismatch = wrong.mismatch
        if mismatch is None or wrong.memory_errors or _is_called_imprecise(wrong):
            return wrong
        if not self._readings_left or not self._caller.is_small(prepared_case.case):
            return wrong
        self._readings_left -= 1
        told = likely_reading(self._pack, prepared_case, mismatch.output, outputs)
        if not told:
            return wrong
        self._readings_left = 0
        return dataclasses.replace(wrong, message=f"{told}; {without_questions(wrong.message)}")

    def _with_checks(
        self, case: Case, prepared_case: PreparedCase, wrong: Outcome, outputs: dict[str, Array]
    ) -> Outcome:
        """Returns a wrong answer with what the device finds when it runs the case with all checks.

        That is done for the first wrong answer, and while nothing is found for those of further small cases.
        """
        if not self._has_checks or self._explained or (self._tried and not self._caller.is_small(case)):
            return wrong
        self._tried = True
        try:
            record, again, _ = self._caller.call(case, prepared_case, Watch.CHECKS)
        except (RunnerEnded, RequestRefused):
            # The call returned the first time; what happens in the repetition decides nothing.
            self._caller.end_session()
            self._explained = True
            return wrong
        if ends_device(record.ran, record.fetched):
            self._caller.end_session()

        def is_same() -> bool:
            return _are_equal(outputs, again) and self._are_same_in_orders(case, prepared_case, outputs)

        explained = with_checks(
            wrong,
            record.fetched,
            self._source,
            is_same_in_all_orders=is_same,
            call_lines=self._artifact.call_lines,
            file_name=self._artifact.file_name,
        )
        self._explained = explained is not wrong
        before, after = wrong.mismatch, explained.mismatch
        self._is_more_than_rounding |= (
            before is not None and before.imprecise is not None and after is not None and after.imprecise is None
        )
        return explained

    def _with_first_wrong_round(self, case: Case, wrong: Outcome) -> Outcome:
        """Returns the first wrong answer with the number of rounds from which on it is wrong, where a case has some."""
        name, fewest, mismatch = self._pack.rounds, self._pack.fewest_rounds, wrong.mismatch
        if name is None or mismatch is None or _is_called_imprecise(wrong) or self._counted_rounds:
            return wrong
        most = int(case.variables[name])
        if not self._caller.is_small(case) or most == fewest:
            return wrong
        self._counted_rounds = True
        first = first_wrong(fewest, most, lambda rounds: self._is_right(case.with_variable(name, rounds)))
        if first is None:
            return wrong
        told = f"it is wrong with {name} = {first}, too"
        if first > fewest:
            told = f"it is right with {name} = {first - 1} and wrong with {first}"
        return dataclasses.replace(wrong, message=f"{wrong.message}; {told}")

    def _with_first_wrong_size(self, case: Case, wrong: Outcome, wall_s: float) -> Outcome:
        """Returns a wrong answer of which nothing is known yet with the size from which on it is wrong, if one is."""
        if wrong.mismatch is None or wrong.memory_errors or self._tried_sizes or _is_called_imprecise(wrong):
            return wrong
        if not (self._has_checks and wall_s <= _QUICK_S / 4 and self._caller.is_small(case)):
            return wrong
        self._tried_sizes = True
        told = first_wrong_size(self._pack, case, self._is_right)
        return dataclasses.replace(wrong, message=f"{wrong.message}; {told}") if told else wrong

    def _is_right(self, case: Case) -> bool | None:
        """Returns whether the case is judged right; None where that is unknown."""
        return self._is_right_now(prepare_case(self._pack, self._seed, case), Watch.RUNS_AHEAD)

    def _is_right_now(
        self, prepared_case: PreparedCase, watch: Watch, begin: Callable[[], None] = lambda: None
    ) -> bool | None:
        """Returns whether a call, before which ``begin`` is made, gives the right answer; None if unknown."""
        try:
            begin()
            record, outputs, _ = self._caller.call(prepared_case.case, prepared_case, watch)
        except (RunnerEnded, RequestRefused):
            self._caller.end_session()
            return None
        if ends_device(record.ran, record.fetched) or record.ran.code:
            self._caller.end_session()
            return None
        return first_mismatch(prepared_case.check, outputs) is None

    def _are_same_in_orders(self, case: Case, prepared_case: PreparedCase, outputs: dict[str, Array]) -> bool:
        """Returns whether further orders of warps give the same outputs, bit by bit."""
        for number in range(_SAME_ORDERS):
            try:
                record, again, _ = self._caller.call(
                    case, prepared_case, Watch.RUNS_AHEAD if number % 2 else Watch.NOTHING
                )
            except (RunnerEnded, RequestRefused):
                self._caller.end_session()
                return False
            if ends_device(record.ran, record.fetched):
                self._caller.end_session()
                return False
            if not _are_equal(outputs, again):
                return False
        return True


def _is_called_imprecise(wrong: Outcome) -> bool:
    """Returns whether a message calls the answer imprecise: not where its small errors have something in common."""
    return wrong.message.startswith(IMPRECISE)


def _are_equal(some: dict[str, Array], others: dict[str, Array]) -> bool:
    return all(some[name].tobytes() == others[name].tobytes() for name in some)
