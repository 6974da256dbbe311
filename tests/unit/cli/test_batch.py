"""The files of a batch: which there are, for which challenge, and the file of results."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from cli.batch import parse_precision
from cli.errors import UsageError
from cli.kernel_files import kernel_paths, read_kernel
from cli.result_lines import ResultLines
from judge.batch.kernels import Kernel, Result
from tests.unit.cli.conftest import Cli

SLUGS = frozenset({"softmax", "gemm", "vector-add"})


def challenge_of(path: Path, given: str | None = None) -> str | None:
    found = read_kernel(path, given, SLUGS)
    return found.challenge if isinstance(found, Kernel) else None


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_challenge_is_that_of_the_option_the_file_the_folder_or_the_name(tmp_path: Path) -> None:
    line = "// gpujudge: challenge=gemm\n"
    assert challenge_of(write(tmp_path / "softmax/a.cu", line), "vector-add") == "vector-add"
    assert challenge_of(write(tmp_path / "softmax/a.cu", line)) == "gemm"
    assert challenge_of(write(tmp_path / "softmax/wrong/gemm.cu")) == "softmax"
    assert challenge_of(write(tmp_path / "gemm/softmax/a.cu")) == "softmax"
    assert challenge_of(write(tmp_path / "mine/gemm.cu")) == "gemm"
    assert challenge_of(write(tmp_path / "mine/a.cu")) is None


def test_a_folder_s_kernels_are_found_below_it_once_each(tmp_path: Path) -> None:
    for name in ("b/2.cu", "b/1.cu", "a.cu", "b/notes.txt", ".git/x.cu"):
        write(tmp_path / name)
    found = kernel_paths([tmp_path, tmp_path / "b", tmp_path / "a.cu"])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["a.cu", "b/1.cu", "b/2.cu"]
    with pytest.raises(UsageError, match="cannot read"):
        kernel_paths([tmp_path / "nowhere"])


def test_what_is_no_kernel_is_told_and_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "softmax"
    folder.mkdir()
    os.mkfifo(folder / "pipe.cu")
    (folder / "loop.cu").symlink_to("loop.cu")
    (folder / "gone.cu").symlink_to("nowhere")
    (folder / "null.cu").symlink_to("/dev/zero")
    with (folder / "huge.cu").open("wb") as file:
        file.truncate(300 << 20)
    write(folder / "line.cu", "// gpujudge: chalenge=softmax\n")
    found = {path.name: read_kernel(path, None, SLUGS) for path in kernel_paths([folder])}
    problems = {name: each.problem for name, each in found.items() if isinstance(each, Result)}
    assert set(problems) == {"pipe.cu", "loop.cu", "gone.cu", "null.cu", "huge.cu", "line.cu"}
    assert "regular files" in problems["pipe.cu"]
    assert "314,572,800 bytes" in problems["huge.cu"]


@pytest.mark.parametrize(("text", "share"), [("2%", 0.02), ("0.5%", 0.005), ("0.02", 0.02), ("50%", 0.5)])
def test_a_precision_is_a_share(text: str, share: float) -> None:
    assert parse_precision(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "0", "-1%", "2", "51%", "many", "nan"])
def test_what_is_no_precision_is_an_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_precision(text)


def lines_of(path: Path) -> list[str]:
    return [json.loads(line)["file"] for line in path.read_text().splitlines()]


def results(path: Path, *names: str, resume: bool = False) -> ResultLines:
    made = ResultLines(path, resume=resume)
    for name in names:
        made.add({"file": name, "verdict": "AC"})
    return made


def test_results_are_there_at_once_and_are_never_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    first = results(out, "a", "b")
    assert lines_of(out) == ["a", "b"]
    with pytest.raises(UsageError, match="another batch"):
        ResultLines(out, resume=True)
    first.close()
    with pytest.raises(UsageError, match="has results already"):
        ResultLines(out, resume=False)
    again = results(out, "c", resume=True)
    assert [line["file"] for line in again.lines] == ["a", "b"]
    again.close()
    assert lines_of(out) == ["a", "b", "c"]


def test_a_line_that_was_cut_off_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    results(out, "a", "b").close()
    with out.open("a") as file:
        file.write('{"file": "c", "verd')
    results(out, "c", resume=True).close()
    assert lines_of(out) == ["a", "b", "c"]


def test_lines_that_no_longer_hold_are_left_out(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    results(out, "a", "b", "c").close()
    again = ResultLines(out, resume=True)
    again.keep([0, 2])
    again.add({"file": "b", "verdict": "WA"})
    with pytest.raises(UsageError, match="another batch"):
        ResultLines(out, resume=True)
    again.close()
    assert lines_of(out) == ["a", "c", "b"]
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "notes.txt"
    out.write_text("my notes\n")
    with pytest.raises(UsageError, match="line 1 is none"):
        ResultLines(out, resume=True)
    assert out.read_text() == "my notes\n"


def test_what_a_full_disk_does_not_take_is_written_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.jsonl"
    made = results(out, "a")
    write_all = os.write

    def half(fd: int, data: bytes) -> int:
        if len(data) < 10:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_all(fd, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    made.add({"file": "b"})
    made.add({"file": "c"})
    assert len(made.unwritten) == 2
    assert "No space" in made.why_unwritten
    assert lines_of(out) == ["a"]
    monkeypatch.undo()
    made.add({"file": "d"})
    made.close()
    assert lines_of(out) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "argv",
    [
        ["a.cu", "--resume"],
        ["a.cu", "--jobs", "2"],
        ["a.cu", "--screen", "emulator"],
        ["--jsonl", "out"],
        [".", "--jsonl", "out", "--watch"],
        [".", "--jsonl", "out", "--case", "one"],
        [".", "--jsonl", "out", "--json"],
        [".", "--jsonl", "out", "--precision", "3"],
        [".", "--jsonl", "out", "--devices", "cuda:77"],
        [".", "--jsonl", "out", "--devices", ","],
        [".", "--jsonl", "out", "--screen", "emulator"],
        [".", "--jsonl", "out", "--screen", "cuda:0"],
        ["nowhere", "--jsonl", "out"],
        [".", "--jsonl", "nowhere/out"],
        ["."],
        [],
    ],
)
def test_a_wrong_command_line_judges_nothing(
    cli: Cli, argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.cu", "// gpujudge: challenge=softmax\n")
    ended = cli("judge", *argv)
    assert ended.exit_code == 2, ended.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == ["a.cu"]
