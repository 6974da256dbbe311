"""Findings as workflow commands, one a line, with the file as the repository names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from emulator.runtime.report import Report
from emulator.standalone.annotations import annotations_of, github_refusal, github_text
from emulator.standalone.session import Outcome
from tests.unit.emulator.standalone.made_outcomes import outcome


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_problems_are_errors_and_notes_are_notices(repository: Path) -> None:
    write, race, leak, note = annotations_of(outcome(repository))

    assert [one.level for one in (write, race, leak, note)] == ["error", "error", "error", "note"]
    assert (race.place.line, [place.line for place in race.related]) == (12, [14])  # type: ignore[union-attr]
    assert race.related[0].message == "the other read, by thread (32, 0, 0) of block (0, 0, 0)"
    assert (leak.place, leak.message) == (None, "leaked memory: 64 bytes of cudaMalloc #2 were never freed")
    assert write.message.endswith("past the end (24 times)")


def test_each_is_one_line_whatever_its_message_has(repository: Path) -> None:
    write, race, leak, note = github_text(outcome(repository, source="a,b:c.cu")).splitlines()

    assert write.startswith(
        "::error file=a%2Cb%3Ac.cu,line=5,title=out-of-bounds write::out-of-bounds write of 4 bytes"
    )
    assert "100%25 wrong%0Aby 4 bytes, past" in write
    assert race.endswith("%0Athe other read, by thread (32, 0, 0) of block (0, 0, 0): a,b:c.cu:14")
    assert leak.startswith("::error title=leaked memory::leaked memory: 64 bytes")
    assert note.startswith("::notice file=a%2Cb%3Ac.cu,line=20,title=undefined shuffle::")


def test_a_program_in_a_folder_of_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "build").mkdir()
    monkeypatch.chdir(repository / "build")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(repository))

    assert "file=src/scale.cu,line=5" in github_text(outcome(repository))
    assert "file=/usr/include/a.cu,line=5" in github_text(outcome(Path("/usr/include"), source="a.cu"))


def test_the_line_of_an_instruction_that_is_not_supported(repository: Path) -> None:
    report = Report(unsupported=f"the instruction frobnicate.b32 ({repository}/scale.cu:6)")
    text = github_text(Outcome(1, None, (report,)))
    assert text.startswith("::error file=scale.cu,line=6,title=not supported by the emulator::")


def test_a_refusal() -> None:
    assert github_refusal("./a: no such file") == "::error title=gpujudge emulate::./a: no such file\n"
