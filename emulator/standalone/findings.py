"""What the report of a program says is wrong: one list of findings, whatever found them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.runtime.report import CallError, Frame, Report
from emulator.standalone.places import Place, Places


@dataclass(frozen=True, slots=True)
class Finding:
    """``kind`` is such as "out-of-bounds write", "leaked memory", "unchecked error". ``message`` is one sentence.

    ``place`` is where in the program's host code it happened, for what kernels did not do.
    """

    kind: str
    message: str
    place: Place | None = None
    is_leak: bool = False


def findings_of(report: Report) -> tuple[Finding, ...]:
    """In order of importance: what is not supported, the kernels' faults, then the host's mistakes, then leaks."""
    return tuple(_findings(report, Places(_frames(report))))


def _findings(report: Report, places: Places) -> Iterator[Finding]:
    if report.unsupported:
        yield Finding("not supported by the emulator", report.unsupported)
    for fault in report.findings:
        times = f" ({fault.count} times)" if fault.count > 1 else ""
        yield Finding(fault.kind, fault.message + times)
    if report.failure and not report.unsupported and not _is_told(report):
        yield Finding("failed launch" if report.limit is None else "stopped launch", report.failure)
    if report.ending and report.ending.crash:
        yield Finding("crash", report.ending.crash, places.of(report.ending.crash_frames))
    for error in report.call_errors:
        finding = _call_error(error, places.of(error.frames))
        if finding is not None:
            yield finding
    for leak in report.leaks:
        yield Finding(
            "leaked memory", f"{leak.size} bytes of {leak.allocation} were never freed", places.of(leak.frames)
        )


def _is_told(report: Report) -> bool:
    """Whether a fault of a kernel's tells already what broke the context."""
    return any(fault.message == report.failure for fault in report.findings)


def _call_error(error: CallError, place: Place | None) -> Finding | None:
    """None for what the program asked about, and for which there is no better explanation."""
    unchecked = "" if error.looked_at else "; the program never asked about the error"
    what = f"{error.call} failed with {error.name}"
    if error.kind:
        return Finding(error.kind, f"{what}: {error.message}{unchecked}", place)
    if error.looked_at:
        return None
    return Finding("unchecked error", what + unchecked, place)


def _frames(report: Report) -> Iterator[Frame]:
    if report.ending:
        yield from report.ending.crash_frames
    for call in report.call_errors:
        yield from call.frames
    for leak in report.leaks:
        yield from leak.frames
