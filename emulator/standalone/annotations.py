"""Turns a run's reports into remarks on lines of source code, and writes them as workflow commands of GitHub."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from emulator.runtime.report import Finding, Party, Report
from emulator.standalone.problems import Problem, notes_of, overruns_of, problems_of
from emulator.standalone.session import Outcome
from records import dataclass

#: The title of what the emulator says about a run as a whole.
TOOL = "gpujudge emulate"
#: Where a message without a finding names a line: that of an instruction which is not supported.
_NAMED = re.compile(r"\((/[^()]*):(\d+)\)$")
_OVERRUN = "part of shared memory left"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of source code, from 1. ``message`` says what happens there, where it is not the annotation's own."""

    file: str
    line: int
    message: str = ""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark. ``place`` is None without debug information. ``related`` has the other line of a race, and the call.

    ``kind`` names the rule, such as "out-of-bounds write"; a note is fine if the program means it.
    """

    kind: str
    level: Literal["error", "note"]
    message: str
    place: Place | None = None
    related: tuple[Place, ...] = ()
    kernel: str | None = None


def annotations_of(outcome: Outcome) -> tuple[Annotation, ...]:
    """Returns the problems of all processes, then the notes on each."""
    return tuple(annotation for report in outcome.reports for annotation in _of_report(report))


def github_text(outcome: Outcome) -> str:
    """Returns the annotations as lines such as ``::error file=scale.cu,line=5,title=out-of-bounds write::...``."""
    return "".join(_command(annotation) for annotation in annotations_of(outcome))


def github_refusal(message: str) -> str:
    """Returns the line for a program that cannot run."""
    return _command(Annotation(TOOL, "error", message))


def path_in_repository(file: str) -> Path:
    """Returns a path relative to GITHUB_WORKSPACE (else the current folder), if ``file`` is below it."""
    top = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    path = Path(os.path.normpath(top / file))
    return path.relative_to(top) if path.is_relative_to(top) else path


def _of_report(report: Report) -> Iterator[Annotation]:
    for problem in problems_of(report):
        yield _of_problem(problem)
    for finding in notes_of(report):
        yield Annotation(
            finding.kind, "note", finding.message, _place(finding.file, finding.line), _other(finding), finding.kernel
        )
    for overrun in overruns_of(report):
        yield Annotation(_OVERRUN, "note", overrun.message, Place(overrun.file, overrun.line), (), overrun.kernel)


def _of_problem(problem: Problem) -> Annotation:
    finding, location = problem.finding, problem.location
    called = _place(location.file, location.line, "the host code") if location else None
    named = None if finding or location else _NAMED.search(problem.message)
    place = _place(finding.file, finding.line) if finding else Place(named[1], int(named[2])) if named else None
    related = (*(_other(finding) if finding else ()), *((called,) if place and called else ()))
    times = f" ({problem.count:,} times)" if problem.count > 1 else ""
    return Annotation(
        problem.kind,
        "error",
        problem.text + times,
        place or (called and Place(called.file, called.line)),
        related,
        finding.kernel if finding else None,
    )


def _other(finding: Finding) -> tuple[Place, ...]:
    other = finding.other
    place = _place(other.file, other.line, _access(other)) if other else None
    return (place,) if place else ()


def _access(party: Party) -> str:
    return f"the other {'write' if party.is_write else 'read'}, by thread {party.thread} of block {party.block}"


def _place(file: str | None, line: int | None, message: str = "") -> Place | None:
    return Place(file, line, message) if file and line else None


def _command(annotation: Annotation) -> str:
    properties = {"title": annotation.kind}
    if annotation.place:
        place = {"file": str(path_in_repository(annotation.place.file)), "line": str(annotation.place.line)}
        properties = place | properties
    shown = ",".join(f"{name}={_escaped(value, property_=True)}" for name, value in properties.items())
    name = "error" if annotation.level == "error" else "notice"
    others = [f"{place.message}: {path_in_repository(place.file)}:{place.line}" for place in annotation.related]
    return f"::{name} {shown}::{_escaped(chr(10).join([annotation.message, *others]))}\n"


def _escaped(text: str, *, property_: bool = False) -> str:
    for plain, code in (
        ("%", "%25"),
        ("\r", "%0D"),
        ("\n", "%0A"),
        *(((":", "%3A"), (",", "%2C")) if property_ else ()),
    ):
        text = text.replace(plain, code)
    return text
