"""Lines of the user's own source that the judge has something to say of: compiler messages and memory faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

#: nvcc's ``kernel.cu(12): error: …`` and the host compiler's ``kernel.cu:12:5: error: …``.
_COMPILER_LINE = re.compile(
    r"^kernel\.cu(?:\((\d+)\)|:(\d+)(?::\d+)?): ((?:fatal |catastrophic )?error|warning)[^:]*: (.*)$"
)
SOURCE_NAME = "kernel.cu"
MOST_PER_LINE = 3


def source_notes(build_log: str, faults: Iterable[Mapping[str, Any]]) -> dict[int, list[str]]:
    """What to write under which line: a few notes a line, each said once."""
    notes: dict[int, list[str]] = {}
    for text in build_log.splitlines():
        if found := _COMPILER_LINE.match(text):
            _add(notes, int(found[1] or found[2]), f"{found[3]}: {found[4]}")
    for fault in faults:
        if fault.get("line") and is_own_source(fault.get("file")):
            _add(notes, int(fault["line"]), f"{fault['kind']}: {fault['message']}")
    return notes


def is_own_source(file: str | None) -> bool:
    """Whether a reported file is what the user sent."""
    return file is not None and file.rsplit("/", 1)[-1] == SOURCE_NAME


def _add(notes: dict[int, list[str]], line: int, note: str) -> None:
    at_line = notes.setdefault(line, [])
    if note not in at_line and len(at_line) < MOST_PER_LINE:
        at_line.append(note)
