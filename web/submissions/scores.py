"""A measurement as a report shows it: the figures in large, and each benchmark case with its samples drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from web.charts import strip_chart
from web.formatting import percent, seconds, significant, whole


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
    if measurement.get("metric") == "warp_instructions":
        figures.append(Figure(whole(measurement["value"]), "", "warp instructions"))
    else:
        number, _, unit = seconds(measurement["value"]).partition(" ")
        figures.append(Figure(number, unit, f"median of {measurement.get('runs', '?')} calls"))
    if measurement.get("gb_per_s") is not None:
        figures.append(Figure(significant(measurement["gb_per_s"]), "GB/s", "memory throughput"))
    if measurement.get("gflop_per_s") is not None:
        figures.append(Figure(significant(measurement["gflop_per_s"]), "GFLOP/s", "arithmetic"))
    if measurement.get("metric") != "warp_instructions" and measurement.get("spread") is not None:
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
