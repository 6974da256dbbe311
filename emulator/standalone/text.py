"""Writes the report for people: what is wrong, what ran and, on request, what it cost."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from emulator.model import Gpu, ProgramTime, group_launches, program_time
from emulator.profile.render import render
from emulator.runtime.report import HOST_RACE, LaunchStats, Report
from emulator.standalone.problems import Problem, notes_of, overruns_of, problems_of
from emulator.standalone.session import Outcome

_WIDTH = 100
_INDENT = "  "


def report_text(outcome: Outcome, *, profile: bool, gpu: Gpu | None) -> str:
    """Returns the report on all processes of the program that used the device."""
    lines = list(_heading(outcome))
    for report in outcome.reports:
        if len(outcome.reports) > 1 and report.ending:
            lines += ["", f"process {report.ending.process}: {report.ending.program}"]
        lines += _report(report, profile=profile, gpu=gpu)
    return "\n".join(f"[emulator] {line}".rstrip() for line in lines) + "\n"


def _heading(outcome: Outcome) -> Iterator[str]:
    if outcome.signal:
        yield f"the program was ended by {outcome.signal}"
    if not outcome.reports:
        yield "the program did not use the CUDA runtime"


def _report(report: Report, *, profile: bool, gpu: Gpu | None) -> Iterator[str]:
    yield from _problems(problems_of(report))
    notes = [finding.message for finding in notes_of(report)] + [overrun.message for overrun in overruns_of(report)]
    for note in notes:
        yield from ("", *_wrapped(f"note, fine if it is meant: {note}"))
    yield from _rest(report)
    ending = report.ending
    if ending and ending.kernel:
        yield f"it ended while {ending.kernel} ran"
    if report.failure and ending and ending.is_regular:
        yield "leaks were not looked for: after such an error nothing can be freed"
    if ending and not ending.is_regular:
        yield "it did not run its exit handlers: leaks were not looked for"
    if report.launches:
        yield ""
        yield from _launches(report)
    if profile:
        text = render(report)
        yield from ("", *text.splitlines()) if text else ()
    if gpu and report.launches:
        yield ""
        yield from _modelled(program_time(group_launches(report.launches), gpu), gpu)


def _problems(problems: Sequence[Problem]) -> Iterator[str]:
    if not problems:
        yield "no problems found"
        return
    yield "1 problem found:" if len(problems) == 1 else f"{len(problems)} problems found:"
    for problem in problems:
        yield ""
        yield from _wrapped(problem.text)
        if problem.count > 1:
            yield f"{_INDENT}{_INDENT}{_number(problem.count)} times"
        if problem.location:
            yield f"{_INDENT}{_INDENT}{_happened(problem)} in {problem.location}"


def _happened(problem: Problem) -> str:
    """Returns the host code's action at the problem's location."""
    if problem.is_leak:
        return "allocated"
    return "accessed by the host" if problem.kind == HOST_RACE else "called"


def _rest(report: Report) -> Iterator[str]:
    """Yields the counts of problems that are not listed one by one."""
    if report.launch_count > len(report.launches):
        first, all_of_them = _number(len(report.launches)), _number(report.launch_count)
        yield f"of {all_of_them} launches only the first {first} are told one by one"
    if report.omitted_sites:
        yield f"{_number(report.omitted_sites)} further places in kernels where something is wrong"
    if report.leak_count > len(report.leaks):
        yield f"{_number(report.leak_count)} leaks in all, of {_number(report.leaked_bytes)} bytes"
    for what in report.unchecked:
        yield f"not checked: {what}"


def _launches(report: Report) -> Iterator[str]:
    by_kernel: dict[str, list[LaunchStats]] = {}
    for launch in report.launches:
        by_kernel.setdefault(launch.kernel, []).append(launch)
    rows = [("launches", "warp instructions", "seconds here", "kernel")]
    order = sorted(by_kernel.items(), key=lambda item: -sum(launch.warp_instructions for launch in item[1]))
    for kernel, launches in order:
        instructions = sum(launch.warp_instructions for launch in launches)
        wall_s = sum(launch.wall_s for launch in launches)
        rows.append((_number(len(launches)), _number(instructions), f"{wall_s:.3f}", kernel))
    yield from _table(rows, left=(3,))


def _modelled(time: ProgramTime, gpu: Gpu) -> Iterator[str]:
    yield f"modelled time on {gpu.name}: {_time(time.seconds)}, limited by {time.limiter}"
    for kernel in time.kernels:
        each = kernel.each
        times = f"{kernel.group.count} x {_time(each.seconds)}"
        yield f"{_INDENT}{kernel.group.kernel}: {times}, limited by {each.limiter}, occupancy {each.occupancy:.0%}"
    for reason in time.why:
        yield from _wrapped(f"- {reason}")


def _table(rows: Sequence[tuple[str, ...]], left: tuple[int, ...]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell if i in left else cell.rjust(widths[i]) for i, cell in enumerate(row)]
        yield _INDENT + "  ".join(cells)


def _wrapped(text: str) -> list[str]:
    lines: list[str] = []
    for part in text.splitlines():
        lines += textwrap.wrap(
            part, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT * 2, break_long_words=False
        )
    return lines


def _number(value: int) -> str:
    return f"{value:,}"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.3g} {unit}"
    raise AssertionError
