"""Compares judgements of the same challenge on the same device: one row each, and the source lines that differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cli.scores import format_interval, format_score
from judge.compile.source_files import own_lines
from judge.judgement import Judgement
from judge.languages.registry import BUILTIN_LANGUAGES, DEFAULT_LANGUAGE
from judge.measurements import BenchmarkCase, Measurement, ModelledCase
from records import dataclass

#: The most lines that are shown, those with the largest differences first.
SHOWN_LINES = 8
#: A difference below this share of the slowest time is left out.
_LEAST_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Compared:
    """A judged source. ``source`` is its text, which the lines are looked up in."""

    file: Path
    source: str
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Row:
    """One source in a comparison. Times are in seconds; None where there is no such figure.

    ``value`` is the score, in the unit of ``metric``, ``times`` the score over the best one. ``limiter`` bounds the
    slowest benchmark case, ``sectors_per_request`` are those of its global accesses (a modelled time alone has them).
    """

    file: str
    verdict: str
    metric: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    times: float | None = None
    limiter: str | None = None
    registers: int | None = None
    spills: int | None = None
    sectors_per_request: float | None = None


@dataclass(frozen=True, slots=True)
class LineCost:
    """The cost of a line in one source: ``seconds`` of the slowest benchmark case; 0 where the line is absent."""

    file: str
    line: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class LineDifference:
    """A line of source, and its cost in each of the sources, in their order. ``case`` is the benchmark case."""

    text: str
    case: str
    costs: tuple[LineCost, ...]

    @property
    def spread_s(self) -> float:
        """The largest cost less the smallest, in seconds."""
        seconds = [cost.seconds for cost in self.costs]
        return max(seconds) - min(seconds)


COLUMNS = ("file", "verdict", "time", "95 % interval", "× best", "limiter", "registers", "spilled", "sectors / request")
#: Those that hold numbers.
NUMBERS = ("time", "95 % interval", "× best", "registers", "spilled", "sectors / request")


def rows(compared: Sequence[Compared]) -> list[Row]:
    """Returns a row for each source, in their order."""
    scores = [one.judgement.measurement.value for one in compared if one.judgement.measurement is not None]
    best = min(scores, default=0.0)
    return [_row(one, best) for one in compared]


def cells(row: Row) -> tuple[object, ...]:
    """Returns a row as text, under ``COLUMNS``."""
    score = "" if row.value is None or row.metric is None else format_score(row.value)
    return (
        row.file,
        row.verdict,
        score,
        "" if row.value is None else format_interval(row.value, row.low, row.high),
        "" if row.times is None else f"{row.times:.3g}",
        row.limiter,
        row.registers,
        None if row.spills is None else f"{row.spills} B",
        "" if row.sectors_per_request is None else f"{row.sectors_per_request:.3g}",
    )


def line_differences(compared: Sequence[Compared]) -> list[LineDifference]:
    """Returns the lines whose cost differs most, the largest difference first. Empty unless times are modelled.

    A line is the same in two sources if its text is, without the space around it. A cost is the line's share of the
    time of the slowest benchmark case.
    """
    cases = [_slowest_modelled(one.judgement.measurement) for one in compared]
    if len([case for case in cases if case is not None]) < 2:
        return []
    costs: dict[str, dict[int, LineCost]] = {}
    for number, (one, case) in enumerate(zip(compared, cases, strict=True)):
        language = BUILTIN_LANGUAGES.of_file(one.file.name) or BUILTIN_LANGUAGES.of(DEFAULT_LANGUAGE)
        texts, own = one.source.split("\n"), own_lines(one.source, language.file_name)
        for line in [] if case is None else case.lines:
            here = own.locate(line.file, line.line)
            elsewhere = f"{line.file}:{line.line}" if line.file else "(no line)"
            text = texts[here - 1].strip() if here is not None and here <= len(texts) else elsewhere
            known = costs.setdefault(text, {}).get(number)
            seconds = line.share * case.value + (known.seconds if known else 0.0) if case is not None else 0.0
            first = known.line if known else line.line or None
            costs[text][number] = LineCost(str(one.file), first, seconds)
    slowest = max(case.value for case in cases if case is not None)
    name = next(case.id for case in cases if case is not None)
    found = [
        LineDifference(
            text,
            name,
            tuple(by.get(number, LineCost(str(one.file), None, 0.0)) for number, one in enumerate(compared)),
        )
        for text, by in costs.items()
    ]
    telling = [one for one in found if one.spread_s >= _LEAST_SHARE * slowest]
    return sorted(telling, key=lambda one: one.spread_s, reverse=True)[:SHOWN_LINES]


def as_json(compared: Sequence[Compared]) -> dict[str, Any]:
    """Returns the comparison as plain data: ``compared`` has the rows, ``lines`` those that differ."""
    return {
        "challenge": compared[0].judgement.challenge,
        "device": compared[0].judgement.device.key,
        "compared": [asdict(row) for row in rows(compared)],
        "lines": [asdict(line) for line in line_differences(compared)],
    }


def _row(one: Compared, best: float) -> Row:
    judgement, measurement = one.judgement, one.judgement.measurement
    named = Row(
        str(one.file),
        judgement.verdict.value,
        registers=judgement.build.registers,
        spills=judgement.build.spills,
    )
    if measurement is None:
        return named
    case = _slowest_modelled(measurement)
    requests = sum(kernel.global_requests for kernel in case.kernels) if case else 0
    sectors = sum(kernel.global_sectors for kernel in case.kernels) if case else 0
    return Row(
        named.file,
        named.verdict,
        measurement.metric,
        measurement.value,
        measurement.low,
        measurement.high,
        measurement.value / best if best else None,
        case.limiter if case else None,
        named.registers,
        named.spills,
        sectors / requests if requests else None,
    )


def _slowest_modelled(measurement: Measurement | None) -> ModelledCase | None:
    """Returns the slowest benchmark case if its time is modelled."""
    cases: Sequence[BenchmarkCase] = () if measurement is None else measurement.cases
    slowest = max(cases, key=lambda case: case.value, default=None)
    return slowest if isinstance(slowest, ModelledCase) else None
