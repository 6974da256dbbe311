"""The submissions of a pack, with the verdict that each must get: data for tests, and examples for authors.

They lie in ``submissions/<verdict>/*.cu``, where the folder is a verdict in words (``wrong_answer``). A first line such
as ``// expect: verdict=RE,WA case=prime`` narrows or widens that: any of these verdicts will do, and the first case
that is not accepted must be that one.
"""

from __future__ import annotations

import re
from pathlib import Path

from judge.judgement import Judgement
from judge.packs.errors import PackError
from judge.packs.pack import Pack
from judge.verdict import Verdict
from records import dataclass

_EXPECT = re.compile(r"//\s*expect:\s*(.*)")
_FOLDERS = {verdict.name.lower(): verdict for verdict in Verdict if verdict is not Verdict.INTERNAL_ERROR}


@dataclass(frozen=True, slots=True)
class ListedSubmission:
    """One file, the verdicts that it may get, and the first case that it must fail (None: any).

    ``on_gpu`` are the verdicts that it may get on a GPU, in any case, where these differ; else it is empty.
    """

    path: Path
    verdicts: frozenset[Verdict]
    case: str | None
    on_gpu: frozenset[Verdict] = frozenset()

    def complaint(self, judgement: Judgement) -> str | None:
        """Returns how a judgement differs from what is expected; None where it does not."""
        is_other = bool(self.on_gpu) and judgement.device.kind == "cuda"
        verdicts = self.on_gpu if is_other else self.verdicts
        if judgement.verdict not in verdicts:
            wanted = " or ".join(sorted(verdicts))
            said = f": {judgement.message}" if judgement.message else ""
            return f"got {judgement.verdict}, expected {wanted}{said}"
        if self.case is not None and not is_other:
            failed = next((case.id for case in judgement.cases if case.verdict is not Verdict.ACCEPTED), None)
            if failed != self.case:
                return f"failed first at case {failed}, expected {self.case}"
        return None


def listed_submissions(pack: Pack) -> tuple[ListedSubmission, ...]:
    """Returns all submissions, sorted by path. Raises PackError for an unknown folder or an invalid first line."""
    root = pack.directory / "submissions"
    listed = []
    for path in sorted(root.glob("*/*.cu")):
        folder = path.parent.name
        if folder not in _FOLDERS:
            raise PackError(path.parent, "", f"'{folder}' is not a verdict; known are {', '.join(_FOLDERS)}")
        listed.append(_read(path, _FOLDERS[folder], pack))
    return tuple(listed)


def _read(path: Path, verdict: Verdict, pack: Pack) -> ListedSubmission:
    verdicts, on_gpu, case = frozenset({verdict}), frozenset[Verdict](), None
    # Submissions that must not compile need not be text.
    lines = path.read_bytes().split(b"\n", 1)
    match = _EXPECT.match(lines[0].decode("utf-8", "replace"))
    for word in match.group(1).split() if match else ():
        key, _, value = word.partition("=")
        if key == "verdict":
            verdicts = _verdicts(path, value)
            if verdict not in verdicts:
                raise PackError(path, "expect", f"does not include {verdict}, the verdict of its folder; move the file")
        elif key == "cuda":
            on_gpu = _verdicts(path, value)
        elif key == "case":
            if value not in {known.id for known in (*pack.cases, *pack.benchmarks)}:
                raise PackError(path, "expect", f"there is no case '{value}'")
            case = value
        else:
            raise PackError(path, "expect", f"'{word}' is unknown; write verdict=WA,RE or cuda=WA,AC or case=ID")
    return ListedSubmission(path, verdicts, case, on_gpu)


def _verdicts(path: Path, value: str) -> frozenset[Verdict]:
    unknown = set(value.split(",")) - {known.value for known in Verdict}
    if unknown:
        raise PackError(path, "expect", f"{', '.join(sorted(unknown))}: not a verdict")
    return frozenset(Verdict(short) for short in value.split(","))
