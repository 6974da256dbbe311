"""Lines of the user's own source that the judge has something to say of: compiler messages and memory faults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: nvcc's ``kernel.cu(12): error: …`` and the host compiler's ``kernel.cu:12:5: error: …``.
_COMPILER_LINE = re.compile(
    r"^kernel\.cu(?:\((\d+)\)|:(\d+)(?::\d+)?): ((?:fatal |catastrophic )?error|warning)[^:]*: (.*)$"
)
SOURCE_NAME = "kernel.cu"
MOST_PER_LINE = 3


@dataclass(frozen=True, slots=True)
class Note:
    """``grave``: the reason of a verdict, and not a warning beside it."""

    text: str
    grave: bool


def source_notes(judgement: Mapping[str, Any]) -> dict[int, list[Note]]:
    """What to write under which line of the source: a few notes a line, each kind of fault once."""
    notes: dict[int, dict[str, Note]] = {}

    def add(line: int, key: str, text: str, *, grave: bool) -> None:
        at_line = notes.setdefault(line, {})
        if key in at_line:
            at_line[key] = Note(at_line[key].text, at_line[key].grave or grave)
        elif len(at_line) < MOST_PER_LINE:
            at_line[key] = Note(text, grave)

    for text in str((judgement.get("build") or {}).get("log") or "").splitlines():
        if found := _COMPILER_LINE.match(text):
            told = f"{found[3]}: {found[4]}"
            add(int(found[1] or found[2]), told, told, grave="error" in found[3])
    for case in judgement.get("cases") or ():
        for fault in case.get("memory_errors") or ():
            if fault.get("line") and is_own_source(fault.get("file")):
                told = f"{fault['kind']} in case {case['id']}: {fault_detail(fault)}"
                add(int(fault["line"]), str(fault["kind"]), told, grave=case.get("verdict") != "AC")
            other = fault.get("other") or {}
            if other.get("line") and is_own_source(other.get("file")) and other["line"] != fault.get("line"):
                told = f"{fault['kind']} in case {case['id']}: the other side is line {fault.get('line')}"
                add(int(other["line"]), str(fault["kind"]), told, grave=case.get("verdict") != "AC")
    return {line: list(at_line.values()) for line, at_line in notes.items()}


def fault_detail(fault: Mapping[str, Any]) -> str:
    """What a fault's message says beyond its kind, line, kernel, thread and block, which have their own places."""
    beside = rf"^{re.escape(str(fault.get('kind')))}\b.* of block \([\d, ]+\): "
    return re.sub(beside, "", str(fault.get("message") or ""))


def is_own_source(file: str | None) -> bool:
    """Whether a reported file is what the user sent."""
    return file is not None and file.rsplit("/", 1)[-1] == SOURCE_NAME
