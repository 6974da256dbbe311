"""Checking a pack as its author would want it checked, before anybody submits to it.

Statically: it loads; ``starter.cu`` is what its argument list generates; the statement's placeholders mean something;
on every functional case the reference runs, inputs depend on the seed and on nothing else, the reference's own answer
is accepted (by ``spot_check`` too) and guesses are not; submissions lie in folders of verdicts. With a judge, every
submission is judged and must get its verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judge.judgement import Judgement
from judge.packs.errors import PackError
from judge.packs.expressions import ExpressionError
from judge.packs.guesses import passing_guesses, right_answer
from judge.packs.loader import load_pack
from judge.packs.pack import Case, Inputs, Pack
from judge.packs.statement import StatementError
from judge.packs.submissions import ListedSubmission, listed_submissions
from judge.verdict import Verdict

__all__ = ["Finding", "ListedSubmission", "SubmissionCheck", "Verification", "listed_submissions", "verify_pack"]

JudgeFunction = Callable[[bytes, Pack], Judgement]

#: Without these a pack shows neither that it can be solved nor that it notices when it is not.
_REQUIRED_SUBMISSIONS = (Verdict.ACCEPTED, Verdict.WRONG_ANSWER)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to put right: where (``key`` may be empty), and what."""

    file: Path
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.message}" if self.key else f"{self.file}: {self.message}"


@dataclass(frozen=True, slots=True)
class SubmissionCheck:
    """What one of the pack's submissions got; ``complaint`` is None where that was right."""

    submission: ListedSubmission
    judgement: Judgement
    complaint: str | None


@dataclass(frozen=True, slots=True)
class Verification:
    """All that was found. ``pack`` is None where it could not even be loaded."""

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
    """Checks the pack in ``path``; with ``judge`` also runs its submissions, telling of each as it is done."""
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
        yield Finding(starter, "", f"is missing; it should read:\n{pack.starter()}")
    elif starter.read_text(encoding="utf-8") != pack.starter():
        yield Finding(starter, "", f"differs from what the argument list makes; it should read:\n{pack.starter()}")
    try:
        pack.statement()
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
            pack.output_spec(case)
            if pack.case_bytes(case) <= 0:
                yield Finding(file, "bench.bytes", f"is not above zero in {case.id}")
        except ExpressionError as error:
            yield Finding(file, f"benchmarks.{case.id}", str(error))


def _complaints(pack: Pack, case: Case) -> Iterator[str]:
    inputs = pack.inputs(case, 1)
    if not _same(inputs, pack.inputs(case, 1)):
        yield "the same seed gives other inputs; draw only from the generator that make_inputs is given"
    declared = {argument.name: case.distributions.get(argument.name) for argument in pack.arguments}
    if _same(inputs, pack.inputs(case, 2)) and not any(d and d.kind == "constant" for d in declared.values()):
        yield "another seed gives the same inputs"
    expected = pack.expected(case, inputs)
    if not all(np.isfinite(want.values).any() for want in expected.values()):
        yield "the reference gives no finite number"
    right = right_answer(pack, expected)
    mismatch = pack.check(case, inputs, right) or pack.spot_check(case, pack.drawn_inputs(case, 1), right, seed=1)
    if mismatch is not None:
        yield f"the reference's own answer is refused: {mismatch.message}"
    passing = passing_guesses(pack, inputs, expected)
    # Where a copy or a constant is right, doing nothing, or not all, is wrong still.
    if case.guessable:
        passing = tuple(guess for guess in passing if guess in ("zeros", "the first nine tenths"))
    if passing:
        yield f"accepts {', '.join(passing)} as right; choose other contents, or say guessable = true if it is right"


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
            yield Finding(root / verdict.name.lower(), "", "holds no submission; show one that gets this verdict")
