from __future__ import annotations

from pathlib import Path

import pytest

from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement
from judge.packs.collection.loader import load_pack
from judge.packs.errors import PackError
from judge.packs.submissions import ListedSubmission, listed_submissions
from judge.verdict import Verdict


def write(directory: Path, folder: str, text: str) -> None:
    path = directory / "submissions" / folder
    path.mkdir(parents=True, exist_ok=True)
    (path / "it.cu").write_text(text)


def judgement(verdict: Verdict, *failed: str, kind: str = "emulator") -> Judgement:
    cases = [CaseJudgement("sample", "sample", Verdict.ACCEPTED, 0.0)]
    cases += [CaseJudgement(case, "hidden", verdict, 0.0) for case in failed]
    device = DeviceInfo(kind, kind, kind, "8.0")
    return Judgement(verdict, "scale", "1.0.0", device, BuildReport(True, 0.0), tuple(cases))


def test_folders_and_first_lines(pack_directory: Path) -> None:
    write(pack_directory, "runtime_error", "// expect: verdict=RE,WA case=hidden\nint x;\n")
    listed = {item.path.parent.name: item for item in listed_submissions(load_pack(pack_directory))}
    assert listed["accepted"].verdicts == {Verdict.ACCEPTED}
    assert listed["accepted"].case is None
    assert listed["runtime_error"].verdicts == {Verdict.RUNTIME_ERROR, Verdict.WRONG_ANSWER}
    assert listed["runtime_error"].case == "hidden"


@pytest.mark.parametrize(
    ("folder", "text", "reason"),
    [
        ("wrong_anwser", "", "not a verdict"),
        ("internal_error", "", "not a verdict"),
        ("runtime_error", "// expect: verdict=XX\n", "not a verdict"),
        ("runtime_error", "// expect: verdict=WA\n", "does not include RE"),
        ("runtime_error", "// expect: case=nowhere\n", "no case 'nowhere'"),
        ("runtime_error", "// expect: cuda=XX\n", "not a verdict"),
        ("runtime_error", "// expect: quickly\n", "is unknown"),
    ],
)
def test_what_means_nothing_is_refused(pack_directory: Path, folder: str, text: str, reason: str) -> None:
    write(pack_directory, folder, text)
    with pytest.raises(PackError, match=reason):
        listed_submissions(load_pack(pack_directory))


def test_complaints() -> None:
    listed = ListedSubmission(Path("x.cu"), frozenset({Verdict.WRONG_ANSWER}), "hidden")
    assert listed.complaint(judgement(Verdict.WRONG_ANSWER, "hidden")) is None
    assert "expected hidden" in str(listed.complaint(judgement(Verdict.WRONG_ANSWER, "other")))
    assert "got RE, expected WA" in str(listed.complaint(judgement(Verdict.RUNTIME_ERROR, "hidden")))
    assert "got AC" in str(listed.complaint(judgement(Verdict.ACCEPTED)))


def test_a_race_may_not_show_on_a_gpu(pack_directory: Path) -> None:
    write(pack_directory, "output_limit_exceeded", "// expect: verdict=OLE,WA case=hidden cuda=WA,AC\nint x;\n")
    listed = {item.path.parent.name: item for item in listed_submissions(load_pack(pack_directory))}[
        "output_limit_exceeded"
    ]
    assert listed.complaint(judgement(Verdict.ACCEPTED, kind="cuda")) is None
    assert listed.complaint(judgement(Verdict.WRONG_ANSWER, "other", kind="cuda")) is None
    assert "got RE, expected AC or WA" in str(listed.complaint(judgement(Verdict.RUNTIME_ERROR, "hidden", kind="cuda")))
    assert "got AC, expected OLE or WA" in str(listed.complaint(judgement(Verdict.ACCEPTED)))
    assert "expected hidden" in str(listed.complaint(judgement(Verdict.WRONG_ANSWER, "other")))
