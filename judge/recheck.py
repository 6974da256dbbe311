"""The emulator's findings in a submission that a GPU accepted, as plain frozen data, and their words.

``judge.rechecking`` makes it, the store keeps it, and the web, the API and the CLI show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from judge.judgement import CaseJudgement, MemoryFault
from judge.verdict import Verdict
from records import dataclass

#: How a message of the emulator begins if it does not support the program, or is at fault itself
#: (judge.supervisor.verdict_rules): neither says anything about the program.
_NOT_OF_THE_PROGRAM = ("not supported by the emulator", "a fault of the emulator itself")
_SOURCE_NAME = "kernel.cu"
#: The most kinds of findings, and lines of each, that a headline names.
_NAMED, _LINES = 3, 4
#: A fault even where every answer was right. Others may do no harm: flags that all threads set alike race on global
#: memory, and what is read behind a buffer may be thrown away.
_ALWAYS_LUCK = "race on shared memory"
_DETAIL_CHARACTERS = 400


class RecheckOutcome(StrEnum):
    """FOUND: it was right by luck. WARNED: what was found changed no answer. UNCHECKED: the emulator cannot tell."""

    CLEAN = "clean"
    WARNED = "warned"
    FOUND = "found"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Recheck:
    """The outcome of a check.

    ``headline`` is a clause without anything of the source but line numbers; ``detail`` says more where there is more:
    the failed case, or why the emulator cannot run the program. ``cases`` counts those that ran, ``of`` those that the
    challenge has. ``findings`` are the first at each line.
    """

    outcome: RecheckOutcome
    headline: str
    detail: str = ""
    cases: int = 0
    of: int = 0
    findings: tuple[MemoryFault, ...] = ()
    wall_s: float = 0.0


def unchecked(why: str, detail: str = "", *, cases: int = 0, of: int = 0) -> Recheck:
    """Returns the result for a submission that could not be checked."""
    return Recheck(RecheckOutcome.UNCHECKED, why, _one_line(detail), cases, of)


def is_of_the_program(message: str) -> bool:
    """Returns whether a message of the emulator is about the program, not about what the emulator lacks."""
    return not message.startswith(_NOT_OF_THE_PROGRAM)


def conclude(cases: Sequence[CaseJudgement], of: int) -> Recheck:
    """Returns the result of the judged cases, of which only the last may have failed.

    A wrong answer counts as found, and so does a race on shared memory; other findings in accepted cases are warnings,
    as in a judgement on the emulator. What stops a case without a finding (a time limit, a failed call) may be the
    emulator's own limit, and counts as unchecked.
    """
    last, ran = cases[-1], len(cases)
    about_program = is_of_the_program(last.message)
    findings = _first_at_each_line(cases if about_program else cases[:-1])
    failed = last.verdict is not Verdict.ACCEPTED
    detail = _one_line(f"case {last.id}: {last.verdict.in_words}: {last.message}") if failed else ""
    stopped = about_program and failed and (last.verdict is Verdict.WRONG_ANSWER or bool(last.memory_errors))
    if findings and (stopped or any(fault.kind == _ALWAYS_LUCK for fault in findings)):
        headline = f"right by luck on this GPU: {findings_in_words(findings)}"
        return Recheck(RecheckOutcome.FOUND, headline, detail, ran, of, findings)
    if last.verdict is Verdict.WRONG_ANSWER:
        headline = f"right on this GPU, a wrong answer on the emulator in case {last.id}"
        return Recheck(RecheckOutcome.FOUND, headline, detail, ran, of)
    if failed:
        why = "the emulator does not support it" if not about_program else "the emulator could not run it to its end"
        return unchecked(why, detail, cases=ran - 1, of=of)
    if findings:
        headline = f"right on the emulator as well, with a warning: {findings_in_words(findings)}"
        return Recheck(RecheckOutcome.WARNED, headline, detail, ran, of, findings)
    if ran < of:
        return unchecked(f"it is slow on the emulator, where {ran} of {of} cases ran in time", cases=ran, of=of)
    return Recheck(RecheckOutcome.CLEAN, "nothing found on the emulator", "", ran, of)


def findings_in_words(findings: Sequence[MemoryFault]) -> str:
    """Returns the findings by kind, with the lines: ``race on shared memory, lines 39 and 44``."""
    lines: dict[str, set[int]] = {}
    for fault in findings:
        lines.setdefault(fault.kind, set()).update(_own_lines(fault))
    named = [f"{kind}{_lines_in_words(found)}" for kind, found in list(lines.items())[:_NAMED]]
    return "; ".join(named) + (f"; and {len(lines) - _NAMED} more" if len(lines) > _NAMED else "")


def _own_lines(fault: MemoryFault) -> list[int]:
    """Returns the lines of the submission that a finding names."""
    places = [(fault.file, fault.line)]
    if fault.other is not None:
        places.append((fault.other.file, fault.other.line))
    return [line for file, line in places if line and file == _SOURCE_NAME]


def _lines_in_words(lines: set[int]) -> str:
    if not lines:
        return ""
    *first, last = [str(line) for line in sorted(lines)][:_LINES]
    if len(lines) > _LINES:
        first, last = [*first, last], f"{len(lines) - _LINES} more"
    return f", lines {', '.join(first)} and {last}" if first else f", line {last}"


def _first_at_each_line(cases: Sequence[CaseJudgement]) -> tuple[MemoryFault, ...]:
    found: dict[tuple[object, ...], MemoryFault] = {}
    for fault in (fault for case in cases for fault in case.memory_errors):
        found.setdefault((fault.kind, fault.file, fault.line), fault)
    return tuple(found.values())


def _one_line(text: str) -> str:
    """Returns a text that the submission may control as one line that can be printed."""
    return "".join(each for each in " ".join(text.split()) if each.isprintable())[:_DETAIL_CHARACTERS]
