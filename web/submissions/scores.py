"""Presentation of a measurement: its main figures, and a chart of each benchmark case's samples."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from judge.interval import ROOFLINE
from judge.measurements import Measurement, ModelledCase
from judge.verdict import Verdict
from store.boards.audits import why_not_audited
from store.models import Audit
from web.formatting import interval, percent, seconds, significant, verdict_title, whole
from web.leaderboard.libraries import Ratio
from web.pictures.charts import process_chart, strip_chart
from web.submissions.modelled_time import gpu_title


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit and label."""

    value: str
    unit: str
    label: str


@dataclass(frozen=True, slots=True)
class BenchmarkView:
    """A benchmark case with a chart of its samples. ``processes`` summarizes each process's samples."""

    name: str
    value: str
    chart: Markup
    runs: int
    interval: str = ""
    processes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditView:
    """An audit in words. A ``verdict`` other than AC removed the submission from its board."""

    verdict: str
    title: str
    text: str
    figures: tuple[Figure, ...]
    at: datetime


def present_measurement(measurement: Measurement) -> tuple[Figure, ...]:
    """Returns the score, then the figures derived from it."""
    figures = []
    number, _, unit = seconds(measurement.value).partition(" ")
    if measurement.metric == "modelled_time_s":
        figures.append(Figure(number, unit, f"modelled on {gpu_title(measurement.gpu)}"))
        counts = [case.warp_instructions for case in measurement.cases if isinstance(case, ModelledCase)]
        if len(counts) == len(measurement.cases) == 1 and counts[0]:
            figures.append(Figure(whole(counts[0]), "", "warp instructions"))
    else:
        figures.append(Figure(number, unit, f"median of {measurement.runs} calls"))
    ends, _, unit = interval(measurement.low, measurement.high).partition(" ")
    if ends:
        figures.append(Figure(ends, unit, "95 % interval"))
    if measurement.roofline_share is not None:
        figures.append(Figure(f"{100 * measurement.roofline_share:.0f}", "%", ROOFLINE))
    if measurement.gb_per_s is not None:
        figures.append(Figure(significant(measurement.gb_per_s), "GB/s", "memory throughput"))
    if measurement.gflop_per_s is not None:
        figures.append(Figure(significant(measurement.gflop_per_s), "GFLOP/s", "arithmetic"))
    if measurement.metric == "time_s" and not ends:
        figures.append(Figure(f"± {percent(measurement.spread).removesuffix(' %')}", "%", "spread"))
    return tuple(figures)


def present_libraries(libraries: Sequence[Ratio]) -> tuple[Figure, ...]:
    """Returns how many times as fast as each library the submission is, with its interval."""
    return tuple(
        Figure(f"{each.value:.2f}×", each.library.library, f"as fast: {each.low:.2f} to {each.high:.2f}")
        for each in libraries
    )


def present_benchmarks(measurement: Measurement) -> tuple[BenchmarkView, ...]:
    """Returns a view of each benchmark case. Draws the samples only if they differ."""

    def label(value: float) -> str:
        return seconds(value, 4)

    views = []
    for case in measurement.cases:
        samples = list(case.samples)
        processes = [list(process) for process in case.processes if process] if len(samples) > 1 else []
        title = f"{whole(len(samples))} timed calls of {case.name}"
        ends = None
        # The interval belongs to the score, so it applies to a case only if there is just one.
        if len(measurement.cases) == 1 and measurement.low is not None and measurement.high is not None:
            ends = (measurement.low, measurement.high)
        chart = Markup("")
        if len(set(samples)) > 1 and processes:
            chart = process_chart(processes, label, f"{title}, by process", ends)
        elif len(set(samples)) > 1:
            chart = strip_chart(samples, label, title)
        views.append(
            BenchmarkView(
                name=case.name,
                value=label(case.value),
                chart=chart,
                runs=len(samples),
                interval=interval(*ends) if ends else "",
                processes=tuple(
                    f"{whole(len(process))} calls, median {label(statistics.median(process))}, "
                    f"slowest {label(max(process))}"
                    for process in processes
                ),
            )
        )
    return tuple(views)


def present_audit(audit: Audit, *, withheld: bool = False) -> AuditView:
    """Returns the result of an audit for the submission's page.

    ``withheld``: it does not count as audited, since the emulator found a fault in it.
    """
    others = audit.contenders - 1
    with_whom = f"together with {others} other{'' if others == 1 else 's'}" if others else "by itself"
    timed = f"Timed again {with_whom} from the first places of the board, in alternation on one GPU."
    measurement = audit.measurement
    if audit.verdict == Verdict.ACCEPTED and measurement is not None:
        text = f"{timed} The board is in the order that this gave, not in that of the first timing."
        figures = present_measurement(measurement)
        reason = why_not_audited(measurement)
        if reason is None:
            replayed = " and ".join(seconds(case.replayed_s, 4) for case in measurement.cases)
            text = f"{text} Its kernels, replayed without the program's host code, took {replayed}."
            if withheld:
                text = f"{text} It does not count as audited, because of what the emulator found in it."
                return AuditView(audit.verdict, "Not audited", text, figures, audit.audited_at)
            return AuditView(audit.verdict, "Audited", text, figures, audit.audited_at)
        text = f"{text} The time does not count as audited, because its kernels could not be replayed: {reason}."
        return AuditView(audit.verdict, "Not audited", text, figures, audit.audited_at)
    message = audit.message or f"The verdict was {verdict_title(audit.verdict)}."
    text = f"{timed} {message[:1].upper()}{message[1:].rstrip('.')}."
    return AuditView(audit.verdict, "Taken off the leaderboard by an audit", text, (), audit.audited_at)
