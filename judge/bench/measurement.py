"""From the benchmark cases of a submission to its score."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.bench.statistics import Interval, between_processes, geometric_mean, relative_error, summarize
from judge.judgement import Measurement
from judge.packs.pack import Case, Pack


@dataclass(frozen=True, slots=True)
class TimedCase:
    """A benchmark case and its samples, process by process: seconds, or one modelled time. ``least_s`` is its roofline
    where the device has been measured, ``details`` what else is told of it."""

    case: Case
    processes: tuple[tuple[float, ...], ...]
    least_s: float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def samples(self) -> tuple[float, ...]:
        """Of all processes, in their order."""
        return tuple(sample for process in self.processes for sample in process)

    @property
    def value(self) -> float:
        """The median of the processes' medians."""
        return statistics.median(statistics.median(process) for process in self.processes)


def measured_time(pack: Pack, timed: Sequence[TimedCase], *, fingerprint: dict[str, Any]) -> Measurement:
    """The score of what three processes were measured to take.

    A process's score is the geometric mean of its medians over the cases, so that a long case does not drown a short
    one; the score is the median of the three. ``runs`` counts all calls, ``spread`` is the largest of a case.

    Dividing each time by its roofline first would order submissions alike: the geometric mean of the rooflines is the
    same for all of them on a device, and ``roofline_share`` is its ratio to the score.
    """
    found = score_interval(timed)
    flops = [pack.case_flops(each.case) for each in timed]
    flop_rates = [count / each.value / 1e9 for count, each in zip(flops, timed, strict=True) if count]
    least = [each.least_s for each in timed if each.least_s]
    return Measurement(
        metric="time_s",
        value=found.value,
        runs=sum(len(each.samples) for each in timed),
        spread=max(summarize(each.samples).spread for each in timed),
        median_s=found.value,
        gb_per_s=geometric_mean([pack.case_bytes(each.case) / each.value / 1e9 for each in timed]),
        gflop_per_s=geometric_mean(flop_rates) if len(flop_rates) == len(timed) else None,
        cases=_entries(pack, timed),
        low=found.low,
        high=found.high,
        roofline_share=geometric_mean(least) / found.value if len(least) == len(timed) else None,
        fingerprint=fingerprint,
    )


def modelled_time(pack: Pack, timed: Sequence[TimedCase], *, gpu: str, model: int) -> Measurement:
    """The score of times that nothing varies: the geometric mean over the cases."""
    return Measurement(
        metric="modelled_time_s",
        value=geometric_mean([each.value for each in timed]),
        runs=sum(len(each.samples) for each in timed),
        spread=0.0,
        cases=_entries(pack, timed),
        gpu=gpu,
        model=model,
    )


def score_interval(timed: Sequence[TimedCase]) -> Interval:
    """The score of what three processes were measured to take, and its 95 % interval: see ``between_processes``."""
    by_process = list(zip(*(each.processes for each in timed), strict=True))
    scores = [geometric_mean([statistics.median(samples) for samples in process]) for process in by_process]
    middle = by_process[scores.index(statistics.median(scores))]
    # Independent relative errors of a geometric mean's factors.
    own = math.hypot(*(relative_error(samples) for samples in middle)) / len(middle)
    return between_processes(scores, own)


def _entries(pack: Pack, timed: Sequence[TimedCase]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "id": each.case.id,
            "value": each.value,
            "samples": list(each.samples),
            "processes": [list(process) for process in each.processes],
            "bytes": pack.case_bytes(each.case),
            "flops": pack.case_flops(each.case),
            **({"roofline_s": each.least_s} if each.least_s else {}),
            **each.details,
        }
        for each in timed
    )
