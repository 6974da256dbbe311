"""The runtime API's answers (``programs/answers.cu``), and the expected ones (``programs/answers.txt``)."""

from __future__ import annotations

from pathlib import Path

from tests.builds import build_with_nvcc

PROGRAMS = Path(__file__).parent / "programs"
_FLAGS = ("-std=c++20", "-O1", "-lineinfo", "-gencode", "arch=compute_80,code=compute_80")

Lines = list[str]


def _by_part(text: str) -> dict[str, Lines]:
    """Returns the text after each line ``= part``."""
    parts: dict[str, Lines] = {}
    for line in text.splitlines():
        if line.startswith("= "):
            parts[line[2:]] = []
        elif parts and line and not line.startswith("#"):
            parts[next(reversed(parts))].append(line)
    return parts


EXPECTED = _by_part((PROGRAMS / "answers.txt").read_text())


def build(*flags: str) -> Path:
    return build_with_nvcc(PROGRAMS / "answers.cu", *_FLAGS, *flags, suffix="")


def answers(part: str, printed: str) -> Lines:
    """Those that the program gave, when it was asked for that part; fewer, or none, if it came to a sudden end."""
    return _by_part(printed).get(part, [])


def differences(expected: Lines, given: Lines) -> Lines:
    """A line each; none where the answers are as expected, in one of the ways that are right."""
    if len(expected) != len(given):
        return [f"{len(given)} answers instead of {len(expected)}", *given]
    return [
        f"{answer}, instead of {right}"
        for right, answer in zip(expected, given, strict=True)
        if answer not in _ways(right)
    ]


def _ways(line: str) -> Lines:
    name, colon, right = line.rpartition(": ")
    return [name + colon + way for way in right.split(" | ")]
