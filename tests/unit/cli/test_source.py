"""The line in a file that names its challenge and device."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cli.errors import UsageError
from cli.source import parse_directive, read_source, read_sources
from judge.settings import BuildLimits


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"// gpujudge: challenge=softmax device=emulator\n", {"challenge": "softmax", "device": "emulator"}),
        (b"#include <x>\r\n  //gpujudge:challenge=gemm\r\n", {"challenge": "gemm"}),
        (b"\xef\xbb\xbf// gpujudge: challenge=softmax\n", {"challenge": "softmax"}),
        (b"// gpujudge:\n", {}),
        (b"// gpujudge judged this\n", {}),
        (b"int a; // gpujudge: challenge=softmax\n", {}),
        (b"// other: challenge=softmax\n", {}),
        (b"\n" * 5000 + b"// gpujudge: challenge=softmax\n", {}),
    ],
)
def test_directive(content: bytes, named: dict[str, str]) -> None:
    assert parse_directive(content) == named


@pytest.mark.parametrize("words", [b"chalenge=softmax", b"challenge=", b"softmax"])
def test_a_word_that_is_not_understood_is_an_error(words: bytes) -> None:
    with pytest.raises(UsageError, match="does not know"):
        parse_directive(b"// gpujudge: " + words)


def test_flags_win(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"// gpujudge: challenge=softmax device=cuda:0\n\xff")
    source = read_source(path, challenge="gemm", device=None)
    assert (source.challenge, source.device) == ("gemm", "cuda:0")
    assert source.text().endswith("\udcff")


def test_a_line_without_its_colon_is_told() -> None:
    with pytest.raises(UsageError, match="has no colon") as error:
        parse_directive(b"// gpujudge challenge=softmax\n")
    assert error.value.hint == "Write `// gpujudge: challenge=softmax`."


def test_no_more_is_read_than_tells_that_it_is_too_long() -> None:
    limit = BuildLimits().source_bytes
    assert len(read_source(Path("/dev/zero"), challenge="softmax", device=None).content) == limit + 1


def test_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"// gpujudge: challenge=gemm\n")))
    assert read_source(Path("-"), challenge=None, device=None).challenge == "gemm"


def test_a_closed_stdin_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UsageError, match="cannot read stdin: it is closed"):
        read_source(Path("-"), challenge="gemm", device=None)


def test_a_file_named_twice(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is named twice"):
        read_sources([tmp_path / "a.cu", tmp_path / "a.cu"], challenge=None, device=None)
