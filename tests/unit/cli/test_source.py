"""The line in a file that names its challenge and device."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.errors import UsageError
from cli.source import parse_directive, read_source


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"// gpujudge: challenge=softmax device=emulator\n", {"challenge": "softmax", "device": "emulator"}),
        (b"#include <x>\r\n  //gpujudge:challenge=gemm\r\n", {"challenge": "gemm"}),
        (b"// gpujudge:\n", {}),
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
