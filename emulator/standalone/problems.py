"""Collects a program's problems into one list, whichever check found them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from emulator.runtime.report import NOTE_KINDS, CallError, Finding, Frame, Report
from emulator.shared_parts import Overrun, find_overruns
from emulator.standalone.source_locations import SourceLocation, SourceLocations
from records import dataclass

#: By ``Report.limit``: the option that raises it.
_REMEDIES = {
    "memory": "--memory SIZE gives the device more",
    "wall": "--time-limit SECONDS gives each launch more, "
    "--schedule SEED lets host code that it waits for run meanwhile",
    "instructions": "--instruction-limit COUNT gives each launch more",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    ``kind``: a name such as "out-of-bounds write", "leaked memory" or "unchecked error". ``message``: one sentence.
    ``location``: the line of host code, for problems that have one. ``count``: how often it happened there.
    ``finding``: what the checks of kernels found.
    """

    kind: str
    message: str
    location: SourceLocation | None = None
    count: int = 1
    is_leak: bool = False
    finding: Finding | None = None

    @property
    def text(self) -> str:
        """Returns the message, with the kind before it unless the message begins with it."""
        return self.message if self.message.startswith(self.kind) else f"{self.kind}: {self.message}"


def problems_of(report: Report) -> tuple[Problem, ...]:
    """Returns the problems by importance: unsupported features, faults of kernels, errors of host code, leaks."""
    return tuple(_problems(report, SourceLocations(_frames(report))))


def overruns_of(report: Report) -> tuple[Overrun, ...]:
    """Returns the lines that leave the part of shared memory which they name: no problems, but perhaps their cause."""
    sources: dict[str, str] = {}
    for file in {extent.file for extent in report.extents}:
        with suppress(OSError):
            sources[file] = Path(file).read_text(errors="replace")
    return find_overruns(report.extents, sources)


def notes_of(report: Report) -> tuple[Finding, ...]:
    """Returns notes on possible mistakes: threads that store one constant, and values that nothing uses."""
    return tuple(finding for finding in report.findings if finding.kind in NOTE_KINDS)


def _problems(report: Report, locations: SourceLocations) -> Iterator[Problem]:
    if report.unsupported:
        yield Problem("not supported by the emulator", report.unsupported)
    for finding in report.findings:
        if finding.kind in NOTE_KINDS:
            continue
        remedy = _REMEDIES.get(report.limit or "") if finding.kind == "endless loop" else None
        message = f"{finding.message}; {remedy}" if remedy else finding.message
        yield Problem(finding.kind, message, locations.of(finding.host_frames), finding.count, finding=finding)
    if report.failure and not report.unsupported and not _is_explained(report):
        if report.limit is None:
            yield Problem("failed launch", report.failure)
        else:
            yield Problem("stopped launch", f"{report.failure}; {_REMEDIES[report.limit]}")
    if report.ending and report.ending.crash:
        yield Problem("crash", report.ending.crash, locations.of(report.ending.crash_frames))
    for error in report.call_errors:
        problem = _call_error(error, locations.of(error.frames), report.failure)
        if problem is not None:
            yield problem
    for leak in report.leaks:
        message = f"{leak.size} bytes of {leak.allocation} were never freed"
        yield Problem("leaked memory", message, locations.of(leak.frames), is_leak=True)


def _is_explained(report: Report) -> bool:
    """Returns whether a finding already explains the failure."""
    return any(finding.message == report.failure for finding in report.findings)


def _call_error(error: CallError, location: SourceLocation | None, failure: str | None) -> Problem | None:
    """Returns None for an error that the program checked and that is not a misuse. ``failure`` is reported already."""
    unchecked = (
        "" if error.was_queried else "; the program does not look at the result, and asks about no error afterwards"
    )
    what = f"{error.call} failed with {error.name}"
    if error.kind:
        return Problem(error.kind, f"{what}: {error.message}{unchecked}", location)
    if error.was_queried:
        return None
    why = f": {error.message}" if error.message and error.message != failure else ""
    if error.name == "cudaErrorMemoryAllocation":
        unchecked += f"; {_REMEDIES['memory']}"
    return Problem("unchecked error", what + why + unchecked, location)


def _frames(report: Report) -> Iterator[Frame]:
    for finding in report.findings:
        yield from finding.host_frames
    if report.ending:
        yield from report.ending.crash_frames
    for call in report.call_errors:
        yield from call.frames
    for leak in report.leaks:
        yield from leak.frames
