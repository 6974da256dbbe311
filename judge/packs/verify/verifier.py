"""Runs the checks of a pack and collects what they find, all at once.

QUICK needs neither compiler nor device: texts, sizes, references, and NumPy's mutants of answers. FULL also makes the
inputs of every benchmark, tries more seeds and, with a judge, judges every kernel, which must get its verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from judge.judgement import Judgement
from judge.packs.errors import PackError
from judge.packs.loader import load_pack
from judge.packs.pack import Pack
from judge.packs.verify.answer_mutants import MutantResult, try_answer_mutants
from judge.packs.verify.benchmarks import check_benchmarks, make_benchmarks
from judge.packs.verify.cases import check_benchmark_sizes, check_case, check_scalars, reference_failed
from judge.packs.verify.coverage import check_coverage
from judge.packs.verify.findings import Finding, Severity, error, of_pack_error
from judge.packs.verify.kernels import SubmissionCheck, all_kernels, check_listing
from judge.packs.verify.prepared import PreparedCase
from judge.packs.verify.spot_mutants import try_spot_mutants
from judge.packs.verify.texts import check_texts

JudgeFunction = Callable[[bytes, Pack], Judgement]

#: A spot check must notice one wrong element at least so often.
_SPOT_SHARE = 0.9


class Effort(StrEnum):
    """How much is checked: QUICK in seconds, FULL with all that decides."""

    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification. ``pack`` is None if it could not be loaded. ``mutants`` are those of answers."""

    pack: Pack | None
    findings: tuple[Finding, ...]
    submissions: tuple[SubmissionCheck, ...] = ()
    mutants: tuple[MutantResult, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was found that must be mended."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


def verify_pack(
    path: Path,
    judge: JudgeFunction | None = None,
    *,
    effort: Effort = Effort.QUICK,
    on_submission: Callable[[SubmissionCheck], None] = lambda _: None,
) -> Verification:
    """Verifies the pack in ``path``. With ``judge`` it also judges its kernels, and reports each one when done."""
    try:
        pack = load_pack(path)
    except PackError as problem:
        return Verification(None, (of_pack_error(problem),))
    full = effort is Effort.FULL
    findings = [
        *check_texts(pack),
        *check_coverage(pack),
        *check_scalars(pack),
        *check_benchmark_sizes(pack),
        *check_benchmarks(pack),
        *check_listing(pack),
    ]
    cases = [PreparedCase(pack, case) for case in pack.cases]
    broken = False
    for prepared in cases:
        found = list(check_case(prepared, all_seeds=full))
        findings += found
        broken |= any(each.code in ("reference-failed", "expression") for each in found)
    mutants: list[MutantResult] = []
    # Mutants of a reference that fails would say the same again.
    if not broken:
        mutants = try_answer_mutants(sorted(cases, key=lambda each: each.elements), until_killed=not full)
        findings += [*_survivors(pack, mutants), *_spot_checks(pack)]
    if full:
        findings += make_benchmarks(pack)
    checks = []
    if judge is not None and not any(each.severity is Severity.ERROR for each in findings):
        for submission in all_kernels(pack):
            judgement = judge(submission.path.read_bytes(), pack)
            check = SubmissionCheck(submission, judgement, submission.complaint(judgement))
            on_submission(check)
            checks.append(check)
            if check.complaint is not None:
                findings.append(error("verdict", submission.path, "", check.complaint))
    return Verification(pack, tuple(findings), tuple(checks), tuple(mutants))


def _survivors(pack: Pack, mutants: list[MutantResult]) -> Iterator[Finding]:
    for mutant in mutants:
        if not mutant.killed:
            where = ", ".join(mutant.applied[:4]) + ("" if len(mutant.applied) <= 4 else ", …")
            message = f"is accepted in every case that it changes ({where})"
            yield error("mutant", pack.directory / "challenge.toml", mutant.name, message)


def _spot_checks(pack: Pack) -> Iterator[Finding]:
    if not pack.reference.defines("spot_check"):
        return
    file = pack.directory / "reference.py"
    for case in pack.benchmarks_for("emulator"):
        try:
            for result in try_spot_mutants(PreparedCase(pack, case)):
                if result.share < _SPOT_SHARE:
                    message = f"notices one wrong element of {result.output} in {result.noticed} of {result.trials}"
                    yield error("spot-check", file, f"benchmarks.{case.id}", message)
        except Exception as problem:
            yield reference_failed(pack, case, problem)
