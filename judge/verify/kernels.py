"""The kernels that a pack is verified with: its submissions, and the accepted kernels in ``reference_solutions/``.

Kernels in a language that this machine cannot build are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from judge.judgement import Judgement
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.errors import PackError
from judge.packs.pack import Pack
from judge.packs.submissions import ListedSubmission, listed_submissions
from judge.verdict import Verdict
from judge.verify.findings import Finding, error, of_pack_error
from records import dataclass


@dataclass(frozen=True, slots=True)
class SubmissionCheck:
    """The judgement of one kernel; ``complaint`` is None where it is as expected."""

    submission: ListedSubmission
    judgement: Judgement
    complaint: str | None


def solutions_folder(pack: Pack) -> Path:
    """Returns where the accepted kernels of a pack lie that are not in its own folder."""
    return pack.directory.parent.parent / "reference_solutions" / pack.slug


def solutions(pack: Pack) -> tuple[ListedSubmission, ...]:
    """Returns the kernels of ``reference_solutions/<slug>``, which must be accepted, sorted by path."""
    accepted = frozenset({Verdict.ACCEPTED})
    languages = [BUILTIN_LANGUAGES.of(name) for name in pack.languages]
    suffixes = {suffix for each in languages if not each.missing() for suffix in each.suffixes}
    paths = sorted(path for path in solutions_folder(pack).glob("*.*") if path.suffix in suffixes)
    return tuple(ListedSubmission(path, accepted, None) for path in paths)


def in_language_of(pack: Pack, path: Path) -> Pack:
    """Returns the pack for submissions in the language of a file."""
    language = BUILTIN_LANGUAGES.of_file(path.name)
    return pack if language is None else pack.in_language(language.name)


def all_kernels(pack: Pack) -> tuple[ListedSubmission, ...]:
    """Returns the accepted solutions, then the submissions. Raises PackError."""
    return (*solutions(pack), *listed_submissions(pack))


def accepted_kernels(pack: Pack) -> tuple[Path, ...]:
    """Returns the files that must be accepted. Raises PackError."""
    return tuple(each.path for each in all_kernels(pack) if each.verdicts == {Verdict.ACCEPTED})


def check_listing(pack: Pack) -> Iterator[Finding]:
    """Yields kernels in the wrong place, and that there is none which must be accepted."""
    try:
        accepted = accepted_kernels(pack)
    except PackError as problem:
        yield of_pack_error(problem)
        return
    if not accepted:
        message = "has no kernel; write at least one that is accepted, which shows that the challenge can be solved"
        yield error("kernel-missing", solutions_folder(pack), "", message)
