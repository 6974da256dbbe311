"""A measurement as a report shows it: the figures in large, and each benchmark case with its samples drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from web.charts import strip_chart
from web.formatting import percent, seconds, significant, whole
from web.submissions.slowness import gpu_title


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its unit and what it is."""

    value: str
    unit: str
    label: str


@dataclass(frozen=True, slots=True)
class BenchmarkView:
    """A benchmark case with its samples drawn."""

    id: str
    value: str
    chart: Markup
    runs: int


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
    if measurement.get("gb_per_s") is not None:
        figures.append(Figure(significant(measurement["gb_per_s"]), "GB/s", "memory throughput"))
    if measurement.get("gflop_per_s") is not None:
        figures.append(Figure(significant(measurement["gflop_per_s"]), "GFLOP/s", "arithmetic"))
    if metric not in ("warp_instructions", "modelled_time_s") and measurement.get("spread") is not None:
        figures.append(Figure(f"± {percent(measurement['spread']).removesuffix(' %')}", "%", "spread"))
    return tuple(figures)


def present_benchmarks(measurement: Mapping[str, Any]) -> tuple[BenchmarkView, ...]:
    """Each benchmark case; drawn only where its samples differ."""

    def label(value: float) -> str:
        return f"{whole(value)} instructions" if measurement.get("metric") == "warp_instructions" else seconds(value, 4)

    views = []
    for case in measurement.get("cases") or ():
        samples = [float(sample) for sample in case.get("samples") or ()]
        views.append(
            BenchmarkView(
                id=str(case.get("id")),
                value=label(case["value"]),
                chart=strip_chart(samples, label, f"{len(samples)} timed calls of {case.get('id')}")
                if len(set(samples)) > 1
                else Markup(""),
                runs=len(samples),
            )
        )
    return tuple(views)
