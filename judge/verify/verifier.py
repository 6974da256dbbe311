"""Runs the checks of a pack and collects what they find, all at once.

QUICK needs neither compiler nor device: texts, sizes, references, and NumPy's mutants of answers. FULL also makes the
inputs of every benchmark, tries more seeds and, with a judge, judges every kernel, which must get its verdict.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path

from judge.compile.required import architecture_for, unmet
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import Judgement
from judge.packs.collection.loader import load_pack
from judge.packs.errors import PackError
from judge.packs.pack import Pack
from judge.verdict import Verdict
from judge.verify.answer_mutants import MutantResult, try_answer_mutants
from judge.verify.benchmarks import check_benchmarks, make_benchmarks
from judge.verify.cases import check_benchmark_sizes, check_case, check_decoys, check_scalars, reference_failed
from judge.verify.check_cost import check_costs
from judge.verify.coverage import check_coverage
from judge.verify.data_files import check_data_files
from judge.verify.findings import Finding, Severity, error, note, of_pack_error, warning
from judge.verify.kernels import SubmissionCheck, accepted_kernels, all_kernels, check_listing, in_language_of
from judge.verify.ledger import Digests, Entry
from judge.verify.oracle_answers import OpenOracle, check_oracle
from judge.verify.prepared import PreparedCase
from judge.verify.ptx_mutants import Fate, KernelMutant
from judge.verify.reach import check_reach
from judge.verify.shortcuts import passing_shortcuts
from judge.verify.spot_mutants import try_spot_mutants
from judge.verify.texts import check_texts, check_todo
from judge.verify.versions import check_version
from records import dataclass

JudgeFunction = Callable[[bytes, Pack], Judgement]
#: Tries mutants of an accepted kernel: its source, its name, its pack.
MutateFunction = Callable[[bytes, str, Pack], Sequence[KernelMutant]]

#: Opens the oracle of a pack, or yields None where there is none.
OpenFunction = Callable[[Pack], AbstractContextManager[OpenOracle | None]]

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
    kernel_mutants: tuple[KernelMutant, ...] = ()
    effort: Effort = Effort.QUICK

    @property
    def entry(self) -> Entry | None:
        """The ledger's entry for a pack that was verified without an error; None for any other pack."""
        if self.pack is None or not self.ok:
            return None
        now = Digests.of(self.pack.directory)
        counted = [each for each in self.kernel_mutants if each.fate is not Fate.INVALID]
        return Entry(
            version=self.pack.version,
            effort=self.effort.value,
            pack=now.pack,
            kernels=now.kernels,
            engine=now.engine,
            answer_mutants=len(self.mutants),
            answer_mutants_equivalent=sum(not each.killed for each in self.mutants),
            kernel_mutants=len(counted),
            kernel_mutants_equivalent=sum(each.fate is not Fate.KILLED for each in counted),
        )

    @property
    def ok(self) -> bool:
        """Whether nothing was found that must be mended."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


def verify_pack(
    path: Path,
    judge: JudgeFunction | None = None,
    *,
    target: Target | None = None,
    mutate: MutateFunction | None = None,
    open_oracle: OpenFunction | None = None,
    effort: Effort = Effort.QUICK,
    against: str | None = None,
    confined: bool = False,
    on_submission: Callable[[SubmissionCheck], None] = lambda _: None,
) -> Verification:
    """Verifies the pack in ``path``. With ``judge`` it also judges its kernels, and reports each one when done.

    ``target`` is what ``judge`` compiles for: kernels that say they need another one are left out, with a note.

    With ``mutate`` it tries mutants of the first accepted kernel of each language. ``open_oracle`` opens what checks
    timed calls on the device, whose answers are compared with NumPy's. ``against`` is a commit whose
    version must be another if judgements can differ. ``confined``: nobody vouches for the pack's author.
    """
    try:
        pack = load_pack(path, confined=confined)
    except PackError as problem:
        return Verification(None, (of_pack_error(problem),))
    # While there is something left to write, whatever else is found would only repeat it.
    if left := tuple(check_todo(pack)):
        return Verification(pack, left)
    full = effort is Effort.FULL
    findings = [
        *check_texts(pack),
        *check_coverage(pack),
        *check_reach(pack),
        *check_scalars(pack),
        *check_benchmark_sizes(pack),
        *check_benchmarks(pack),
        *check_data_files(pack),
        *check_listing(pack),
        *(check_version(pack, against) if against else ()),
    ]
    cases = [PreparedCase(pack, case) for case in pack.cases]
    broken = False
    # Cases for GPUs alone are large, and show nothing of answers that smaller ones do not.
    small = [each for each in cases if "emulator" in each.case.devices]
    for prepared in cases:
        found = list(check_case(prepared, all_seeds=full and prepared in small))
        findings += found
        broken |= any(each.code in ("reference-failed", "expression") for each in found)
    mutants: list[MutantResult] = []
    # Mutants of a reference that fails would say the same again.
    if not broken:
        mutants = try_answer_mutants(sorted(small, key=lambda each: each.elements), until_killed=not full)
        findings += [*_survivors(pack, mutants), *_spot_checks(pack), *check_decoys(pack)]
    if full:
        findings += make_benchmarks(pack)
        if not broken:
            findings += _shortcuts(pack)
        if not broken:
            findings += check_costs(pack)
        if not broken and open_oracle is not None:
            findings += _oracle_findings(pack, open_oracle)
    findings = [*(_waived(pack, finding) for finding in findings), *_needless_waivers(pack, findings)]
    checks = []
    if judge is not None and not any(each.severity is Severity.ERROR for each in findings):
        for submission in all_kernels(pack):
            source = submission.path.read_bytes()
            if target is not None and (why := unmet(source, architecture_for(source, target))):
                findings.append(note("kernel-not-judged", submission.path, "", why))
                continue
            judgement = judge(source, in_language_of(pack, submission.path))
            check = SubmissionCheck(submission, judgement, submission.complaint(judgement))
            on_submission(check)
            checks.append(check)
            if check.complaint is not None:
                findings.append(error("verdict", submission.path, "", check.complaint))
            elif submission.verdicts == {Verdict.ACCEPTED}:
                findings += _warnings_of(check)
    kernel_mutants: tuple[KernelMutant, ...] = ()
    if mutate is not None and not any(each.severity is Severity.ERROR for each in findings):
        try:
            for first in _first_of_each_language(accepted_kernels(pack)):
                kernel_mutants += tuple(mutate(first.read_bytes(), first.name, in_language_of(pack, first)))
        except InternalError as problem:
            findings.append(error("kernel-mutants", pack.directory, "", str(problem)))
        findings += _surviving_kernels(pack, kernel_mutants)
    if not broken:
        findings += _needless_declarations(pack, mutants, kernel_mutants)
    return Verification(pack, tuple(findings), tuple(checks), tuple(mutants), kernel_mutants, effort)


def _oracle_findings(pack: Pack, open_oracle: OpenFunction) -> list[Finding]:
    try:
        with open_oracle(pack) as oracle:
            return [] if oracle is None else list(check_oracle(pack, oracle))
    except InternalError as problem:
        return [error("oracle", pack.directory, "", str(problem))]


def _first_of_each_language(paths: Sequence[Path]) -> list[Path]:
    first: dict[str, Path] = {}
    for path in paths:
        first.setdefault(path.suffix, path)
    return list(first.values())


def _warnings_of(check: SubmissionCheck) -> Iterator[Finding]:
    """Yields findings in an accepted kernel: learners from it would learn them, too."""
    for case in check.judgement.cases:
        if case.memory_errors:
            message = f"is accepted with a warning in the case {case.id}: {case.memory_errors[0].message}"
            yield error("kernel-warning", check.submission.path, "", message)
            return


def _waived(pack: Pack, finding: Finding) -> Finding:
    """Returns the finding, or where the pack waives it, a note of it with the pack's reason."""
    reason = pack.waived.get(finding.code)
    if reason is None or finding.severity is Severity.NOTE:
        return finding
    return dataclasses.replace(finding, severity=Severity.NOTE, message=f"{finding.message}, but: {reason}")


def _needless_waivers(pack: Pack, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yields the waivers of the pack that match no finding.

    What checks cost depends on the machine, and shortcuts are tried by a full verification alone.
    """
    found = {finding.code for finding in findings}
    for code in pack.waived:
        if code not in found and code not in ("check-cost", "shortcut"):
            yield warning("waiver", pack.directory / "challenge.toml", f"waived.{code}", "was not found; remove it")


def _surviving_kernels(pack: Pack, mutants: Sequence[KernelMutant]) -> Iterator[Finding]:
    for mutant in mutants:
        if mutant.fate is Fate.SURVIVED and mutant.name not in pack.equivalent:
            message = f"is accepted in every case, and wrong for {mutant.where}"
            yield error("kernel-mutant", pack.directory / "challenge.toml", mutant.name, message)


def _needless_declarations(
    pack: Pack, mutants: Sequence[MutantResult], kernel_mutants: Sequence[KernelMutant]
) -> Iterator[Finding]:
    """Yields the declarations of equivalence that match no surviving mutant of answers."""
    surviving = {each.name for each in mutants if not each.killed}
    surviving |= {each.name for each in kernel_mutants if each.fate is Fate.SURVIVED}
    for name in pack.equivalent:
        of_kernel = ".cu:" in name or ".py:" in name
        if name not in surviving and (kernel_mutants or not of_kernel):
            message = "is declared equivalent, and does not survive; remove it"
            yield warning("mutant-declared", pack.directory / "challenge.toml", f"equivalent.{name}", message)


def _survivors(pack: Pack, mutants: list[MutantResult]) -> Iterator[Finding]:
    for mutant in mutants:
        if not mutant.killed and mutant.name not in pack.equivalent:
            where = ", ".join(mutant.applied[:4]) + ("" if len(mutant.applied) <= 4 else ", …")
            message = f"is accepted in every case that it changes ({where})"
            yield error("mutant", pack.directory / "challenge.toml", mutant.name, message)


def _shortcuts(pack: Pack) -> Iterator[Finding]:
    """Yields the shortcuts that pass at the emulator's size; ``gpujudge pack shortcuts`` tries that of GPUs as well."""
    file = pack.directory / "challenge.toml"
    for case in pack.benchmarks_for("emulator"):
        passed = [each.shortcut.removeprefix("shortcut: ") for each in passing_shortcuts(pack, case)]
        if passed:
            yield warning("shortcut", file, f"benchmarks.{case.id}", f"accepts less work: {'; '.join(passed)}")


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
