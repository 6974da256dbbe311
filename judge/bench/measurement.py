"""From the benchmark cases of a submission to its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.bench.statistics import geometric_mean, summarize
from judge.judgement import Measurement, Metric
from judge.packs.pack import Case, Pack


@dataclass(frozen=True, slots=True)
class TimedCase:
    """A benchmark case and its samples: seconds, or one modelled time and what is told of it."""

    case: Case
    samples: tuple[float, ...]
    details: dict[str, Any] = field(default_factory=dict)


def measurement(
    metric: Metric, pack: Pack, timed: Sequence[TimedCase], *, gpu: str | None = None, model: int | None = None
) -> Measurement:
    """The score over several cases is the geometric mean of their medians, so that a long case does not drown a
    short one; rates likewise. ``runs`` counts all calls, ``spread`` is the largest. Rates are given only where time
    was measured."""
    summaries = [summarize(each.samples) for each in timed]
    value = geometric_mean([summary.median for summary in summaries])
    is_time = metric == "time_s"
    flops = [pack.case_flops(each.case) for each in timed]
    rates = [pack.case_bytes(each.case) / s.median / 1e9 for each, s in zip(timed, summaries, strict=True) if is_time]
    flop_rates = [count / s.median / 1e9 for count, s in zip(flops, summaries, strict=True) if is_time and count]
    return Measurement(
        metric=metric,
        value=value,
        runs=sum(summary.runs for summary in summaries),
        spread=max(summary.spread for summary in summaries),
        median_s=value if is_time else None,
        gb_per_s=geometric_mean(rates) if rates else None,
        gflop_per_s=geometric_mean(flop_rates) if flop_rates and len(flop_rates) == len(timed) else None,
        cases=tuple(
            {
                "id": each.case.id,
                "value": summary.median,
                "samples": list(each.samples),
                "bytes": pack.case_bytes(each.case),
                "flops": count,
                **each.details,
            }
            for each, summary, count in zip(timed, summaries, flops, strict=True)
        ),
        gpu=gpu,
        model=model,
    )
