"""What the runtime API answers (``programs/answers.cu``), and what it should (``programs/answers.txt``)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
# Each of these breaks the context, and has a process of its own.
BROKEN = ("trap", "assert", "address", "misaligned")
_NVCC = ("nvcc", "-std=c++20", "-O1", "-lineinfo", "-gencode", "arch=compute_80,code=compute_80")

Lines = list[str]


def _by_part(text: str) -> dict[str, Lines]:
    """What follows each line ``= part``."""
    parts: dict[str, Lines] = {}
    for line in text.splitlines():
        if line.startswith("= "):
            parts[line[2:]] = []
        elif parts and line and not line.startswith("#"):
            parts[next(reversed(parts))].append(line)
    return parts


EXPECTED = _by_part((PROGRAMS / "answers.txt").read_text())


def build(program: Path, *flags: str) -> Path:
    subprocess.run([*_NVCC, *flags, str(PROGRAMS / "answers.cu"), "-o", str(program)], check=True)
    return program


def ask_all(run: Callable[[str], str]) -> dict[str, Lines]:
    """The answers by part. ``run``: what the program prints when it is given that argument."""
    return _by_part("".join(run(argument) for argument in ("all", *BROKEN)))


def differences(expected: Lines, answers: Lines) -> Lines:
    """A line each; none where the answers are as expected, in one of the ways that are right."""
    if len(expected) != len(answers):
        return [f"{len(answers)} answers instead of {len(expected)}", *answers]
    return [
        f"{answer}, instead of {right}"
        for right, answer in zip(expected, answers, strict=True)
        if answer not in _ways(right)
    ]


def _ways(line: str) -> Lines:
    name, _, right = line.partition(": ")
    return [f"{name}: {way}" if right else name for way in right.split(" | ")]
