"""Notes on lines of the user's own source: compiler messages and memory faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from judge.compile.source_files import ONE_FILE, OwnLines
from judge.judgement import CaseJudgement, MemoryFault
from judge.verdict import Verdict

#: nvcc's ``kernel.cu(12): error: …`` and the host compiler's ``kernel.cu:12:5: error: …``.
_COMPILER_LINE = re.compile(
    r"^([\w./+-]{1,500})(?:\((\d{1,9})\)|:(\d{1,9})(?::\d{1,9})?): ((?:fatal |catastrophic )?error|warning)[^:]*: (.*)$"
)
MAX_NOTES_PER_LINE = 3


@dataclass(frozen=True, slots=True)
class Note:
    """A note on a line. ``is_error`` tells what caused the verdict from a mere warning."""

    text: str
    is_error: bool


def source_notes(
    build_log: str,
    cases: Iterable[CaseJudgement],
    rechecked: Iterable[MemoryFault] = (),
    own: OwnLines = ONE_FILE,
) -> dict[int, list[Note]]:
    """Returns notes by the line of the whole source: at most MAX_NOTES_PER_LINE a line, each kind of fault once.

    ``rechecked`` are what the emulator found in what a GPU accepted.
    """
    notes: dict[int, dict[str, Note]] = {}

    def add(line: int, key: str, text: str, *, is_error: bool) -> None:
        at_line = notes.setdefault(line, {})
        if key in at_line:
            at_line[key] = Note(at_line[key].text, at_line[key].is_error or is_error)
        elif len(at_line) < MAX_NOTES_PER_LINE:
            at_line[key] = Note(text, is_error)

    for text in build_log.splitlines():
        found = _COMPILER_LINE.match(text)
        place = None if found is None else own.locate(found[1], int(found[2] or found[3]))
        if found is not None and place is not None:
            message = f"{found[4]}: {found[5]}"
            add(place, message, message, is_error="error" in found[4])
    for case in cases:
        for fault in case.memory_errors:
            for line, message in _fault_notes(fault, own):
                text = f"{fault.kind} in case {case.id}: {message}"
                add(line, fault.kind, text, is_error=case.verdict is not Verdict.ACCEPTED)
    for fault in rechecked:
        for line, message in _fault_notes(fault, own):
            add(line, fault.kind, f"{fault.kind} on the emulator: {message}", is_error=False)
    return {line: list(at_line.values()) for line, at_line in notes.items()}


def _fault_notes(fault: MemoryFault, own: OwnLines) -> Iterator[tuple[int, str]]:
    """Yields a note for the line of the access and, if it differs, for the line of the racing access."""
    line = own.locate(fault.file, fault.line)
    if line is not None:
        yield line, fault_detail(fault)
    other = None if fault.other is None else own.locate(fault.other.file, fault.other.line)
    if other is not None and other != line:
        yield other, f"it races with {own.in_words(line) if line else f'line {fault.line}'}"


def fault_detail(fault: MemoryFault) -> str:
    """Returns the message without the kind, line, kernel, thread and block, which the report shows separately."""
    beside = rf"^{re.escape(fault.kind)}\b.* of block \([\d, ]+\): "
    return re.sub(beside, "", fault.message)
