"""What the report of a program says is wrong: one list, whatever found it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.runtime.report import CallError, Frame, Report
from emulator.standalone.places import Place, Places


@dataclass(frozen=True, slots=True)
class Problem:
    """``kind`` is such as "out-of-bounds write", "leaked memory", "unchecked error". ``message`` is one sentence.

    ``place`` is where in the program's host code it happened, for what kernels did not do. ``count``: how often, there.
    """

    kind: str
    message: str
    place: Place | None = None
    count: int = 1
    is_leak: bool = False


def problems_of(report: Report) -> tuple[Problem, ...]:
    """In order of importance: what is not supported, what kernels did, then the host's mistakes, then leaks."""
    return tuple(_problems(report, Places(_frames(report))))


def _problems(report: Report, places: Places) -> Iterator[Problem]:
    if report.unsupported:
        yield Problem("not supported by the emulator", report.unsupported)
    for finding in report.findings:
        yield Problem(finding.kind, finding.message, count=finding.count)
    if report.failure and not report.unsupported and not _is_told(report):
        yield Problem("failed launch" if report.limit is None else "stopped launch", report.failure)
    if report.ending and report.ending.crash:
        yield Problem("crash", report.ending.crash, places.of(report.ending.crash_frames))
    for error in report.call_errors:
        problem = _call_error(error, places.of(error.frames))
        if problem is not None:
            yield problem
    for leak in report.leaks:
        message = f"{leak.size} bytes of {leak.allocation} were never freed"
        yield Problem("leaked memory", message, places.of(leak.frames), is_leak=True)


def _is_told(report: Report) -> bool:
    """Whether a finding tells already what broke the context."""
    return any(finding.message == report.failure for finding in report.findings)


def _call_error(error: CallError, place: Place | None) -> Problem | None:
    """None for what the program asked about, and for which there is no better explanation."""
    unchecked = "" if error.looked_at else "; the program never asked about the error"
    what = f"{error.call} failed with {error.name}"
    if error.kind:
        return Problem(error.kind, f"{what}: {error.message}{unchecked}", place)
    if error.looked_at:
        return None
    return Problem("unchecked error", what + unchecked, place)


def _frames(report: Report) -> Iterator[Frame]:
    if report.ending:
        yield from report.ending.crash_frames
    for call in report.call_errors:
        yield from call.frames
    for leak in report.leaks:
        yield from leak.frames
