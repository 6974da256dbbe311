"""A measurement as a report shows it: the figures in large, and each benchmark case with its samples drawn."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from markupsafe import Markup

from judge.interval import ROOFLINE
from judge.verdict import Verdict
from store.models import Audit
from web.charts import process_chart, strip_chart
from web.formatting import interval, percent, seconds, significant, verdict_title, whole
from web.submissions.slowness import gpu_title


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its unit and what it is."""

    value: str
    unit: str
    label: str


@dataclass(frozen=True, slots=True)
class BenchmarkView:
    """A benchmark case with its samples drawn; ``processes`` says what each made of it."""

    id: str
    value: str
    chart: Markup
    runs: int
    interval: str = ""
    processes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditView:
    """An audit, in words. ``verdict`` other than AC has taken the submission off its board."""

    verdict: str
    title: str
    text: str
    figures: tuple[Figure, ...]
    at: datetime


def present_measurement(measurement: Mapping[str, Any]) -> tuple[Figure, ...]:
    """The score first, then what follows from it."""
    figures = []
    metric = measurement.get("metric")
    number, _, unit = seconds(measurement["value"]).partition(" ")
    if metric == "warp_instructions":
        figures.append(Figure(whole(measurement["value"]), "", "warp instructions"))
    elif metric == "modelled_time_s":
        figures.append(Figure(number, unit, f"modelled on {gpu_title(measurement.get('gpu'))}"))
        counts = [case.get("warp_instructions") for case in measurement.get("cases") or ()]
        if len(counts) == 1 and counts[0]:
            figures.append(Figure(whole(counts[0]), "", "warp instructions"))
    else:
        figures.append(Figure(number, unit, f"median of {measurement.get('runs', '?')} calls"))
    ends, _, unit = interval(measurement.get("low"), measurement.get("high")).partition(" ")
    if ends:
        figures.append(Figure(ends, unit, "95 % interval"))
    if measurement.get("roofline_share") is not None:
        figures.append(Figure(f"{100 * measurement['roofline_share']:.0f}", "%", ROOFLINE))
    if measurement.get("gb_per_s") is not None:
        figures.append(Figure(significant(measurement["gb_per_s"]), "GB/s", "memory throughput"))
    if measurement.get("gflop_per_s") is not None:
        figures.append(Figure(significant(measurement["gflop_per_s"]), "GFLOP/s", "arithmetic"))
    if metric == "time_s" and not ends and measurement.get("spread") is not None:
        figures.append(Figure(f"± {percent(measurement['spread']).removesuffix(' %')}", "%", "spread"))
    return tuple(figures)


def present_benchmarks(measurement: Mapping[str, Any]) -> tuple[BenchmarkView, ...]:
    """Each benchmark case; drawn only where its samples differ."""

    def label(value: float) -> str:
        return f"{whole(value)} instructions" if measurement.get("metric") == "warp_instructions" else seconds(value, 4)

    views = []
    for case in measurement.get("cases") or ():
        samples = [float(sample) for sample in case.get("samples") or ()]
        processes = [[float(sample) for sample in process] for process in case.get("processes") or () if process]
        if len(samples) < 2:
            processes = []
        title = f"{whole(len(samples))} timed calls of {case.get('id')}"
        alone = measurement if len(measurement["cases"]) == 1 else {}
        low, high = (case.get(end, alone.get(end)) for end in ("low", "high"))
        ends = None if low is None or high is None else (float(low), float(high))
        chart = Markup("")
        if len(set(samples)) > 1 and processes:
            chart = process_chart(processes, label, f"{title}, by process", ends)
        elif len(set(samples)) > 1:
            chart = strip_chart(samples, label, title)
        views.append(
            BenchmarkView(
                id=str(case.get("id")),
                value=label(case["value"]),
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


def present_audit(audit: Audit) -> AuditView:
    """What an audit found, for its submission's page."""
    others = audit.contenders - 1
    with_whom = f"together with {others} other{'' if others == 1 else 's'}" if others else "by itself"
    timed = f"Timed again {with_whom} from the first places of the board, in alternation on one GPU."
    if audit.verdict == Verdict.ACCEPTED:
        text = f"{timed} The board is in the order that this gave, not in that of the first timing."
        figures = present_measurement(audit.measurement or {}) if audit.measurement else ()
        return AuditView(audit.verdict, "Audited", text, figures, audit.audited_at)
    message = audit.message or f"The verdict was {verdict_title(audit.verdict)}."
    text = f"{timed} {message[:1].upper()}{message[1:].rstrip('.')}."
    return AuditView(audit.verdict, "Taken off the leaderboard by an audit", text, (), audit.audited_at)
