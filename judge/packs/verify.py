"""Verifies a pack before anybody submits to it.

Without a judge it checks that the pack loads; that ``starter.cu`` is the generated one; that the statement's
placeholders are known; and for every functional case that the reference runs, that inputs depend on the seed and on
nothing else, that the reference's own answer is accepted (by ``spot_check`` too) and that trivial answers are not; and
that submissions lie in folders of verdicts. With a judge, it also judges every submission, which must get its verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judge.judgement import Judgement
from judge.packs.distributions import Constant
from judge.packs.errors import PackError
from judge.packs.expressions import ExpressionError
from judge.packs.inputs import Inputs, lazy_inputs, make_inputs
from judge.packs.judging import expected_checker, expected_outputs, spot_check
from judge.packs.loader import load_pack
from judge.packs.pack import Case, Pack
from judge.packs.sizes import case_bytes, output_specs
from judge.packs.statement import StatementError, read_statement
from judge.packs.submissions import ListedSubmission, listed_submissions
from judge.packs.trivial_answers import accepted_trivial_answers, right_answer
from judge.verdict import Verdict

__all__ = ["Finding", "ListedSubmission", "SubmissionCheck", "Verification", "listed_submissions", "verify_pack"]

JudgeFunction = Callable[[bytes, Pack], Judgement]

#: Without these a pack proves neither that it can be solved nor that it detects a wrong answer.
_REQUIRED_SUBMISSIONS = (Verdict.ACCEPTED, Verdict.WRONG_ANSWER)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to fix: where (``key`` may be empty), and what."""

    file: Path
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.message}" if self.key else f"{self.file}: {self.message}"


@dataclass(frozen=True, slots=True)
class SubmissionCheck:
    """The judgement of one of the pack's submissions; ``complaint`` is None where it is as expected."""

    submission: ListedSubmission
    judgement: Judgement
    complaint: str | None


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification. ``pack`` is None if it could not be loaded."""

    pack: Pack | None
    findings: tuple[Finding, ...]
    submissions: tuple[SubmissionCheck, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.findings and all(check.complaint is None for check in self.submissions)


def verify_pack(
    path: Path,
    judge: JudgeFunction | None = None,
    *,
    on_submission: Callable[[SubmissionCheck], None] = lambda _: None,
) -> Verification:
    """Verifies the pack in ``path``. With ``judge`` it also judges its submissions, and reports each one when done."""
    try:
        pack = load_pack(path)
    except PackError as error:
        return Verification(None, (Finding(error.file, error.key, error.reason),))
    findings = [*_check_texts(pack), *_check_cases(pack), *_check_listing(pack)]
    checks = []
    if judge is not None and not findings:
        for submission in listed_submissions(pack):
            judgement = judge(submission.path.read_bytes(), pack)
            check = SubmissionCheck(submission, judgement, submission.complaint(judgement))
            on_submission(check)
            checks.append(check)
    return Verification(pack, tuple(findings), tuple(checks))


def _check_texts(pack: Pack) -> Iterator[Finding]:
    starter = pack.directory / "starter.cu"
    if not starter.is_file():
        yield Finding(starter, "", f"is missing; write:\n{pack.starter()}")
    elif starter.read_text(encoding="utf-8") != pack.starter():
        yield Finding(starter, "", f"differs from the one generated from the argument list; write:\n{pack.starter()}")
    try:
        read_statement(pack)
    except StatementError as error:
        yield Finding(pack.directory / "statement.md", "", str(error))


def _check_cases(pack: Pack) -> Iterator[Finding]:
    file = pack.directory / "challenge.toml"
    for case in pack.cases:
        try:
            # The reference is the author's code: whatever it raises is a finding about this case.
            yield from (Finding(file, f"cases.{case.id}", message) for message in _complaints(pack, case))
        except Exception as error:
            yield Finding(pack.directory / "reference.py", f"cases.{case.id}", f"{type(error).__name__}: {error}")
    for case in pack.benchmarks:
        try:
            output_specs(pack, case)
            if case_bytes(pack, case) <= 0:
                yield Finding(file, "bench.bytes", f"must be above zero, and is not in the case {case.id}")
        except ExpressionError as error:
            yield Finding(file, f"benchmarks.{case.id}", str(error))


def _complaints(pack: Pack, case: Case) -> Iterator[str]:
    inputs = make_inputs(pack, case, 1)
    if not _same(inputs, make_inputs(pack, case, 1)):
        yield "the same seed makes different inputs; draw only from the generator that make_inputs gets"
    replaced_by_constant = any(isinstance(each, Constant) for each in case.distributions.values())
    if _same(inputs, make_inputs(pack, case, 2)) and not replaced_by_constant:
        yield "another seed makes the same inputs; draw from the generator that make_inputs gets"
    expected = expected_outputs(pack, case, inputs)
    if not all(np.isfinite(want.values).any() for want in expected.values()):
        yield "the reference returns no finite number"
    right = right_answer(pack, expected)
    mismatch = expected_checker(expected)(right) or spot_check(pack, case, lazy_inputs(pack, case, 1), right, seed=1)
    if mismatch is not None:
        yield f"the reference's own answer is rejected: {mismatch.message}"
    passing = accepted_trivial_answers(pack, inputs, expected)
    # Even where a copy or a constant is right, doing nothing or only a part is wrong.
    if case.guessable:
        passing = tuple(guess for guess in passing if guess in ("zeros", "the first nine tenths"))
    if passing:
        answers = ", ".join(passing)
        yield f"accepts a trivial answer ({answers}); change the distributions, or set guessable = true if it is right"


def _same(one: Inputs, other: Inputs) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def _check_listing(pack: Pack) -> Iterator[Finding]:
    root = pack.directory / "submissions"
    try:
        listed = listed_submissions(pack)
    except PackError as error:
        yield Finding(error.file, error.key, error.reason)
        return
    for verdict in _REQUIRED_SUBMISSIONS:
        if not any(verdict in submission.verdicts for submission in listed):
            yield Finding(root / verdict.name.lower(), "", "has no submission; add one that gets this verdict")
