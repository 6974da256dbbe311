"""What is made of the samples of one case, and of several cases."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """``spread`` is half the interquartile range over the median: robust against the odd late interrupt."""

    median: float
    spread: float
    runs: int


def summarize(samples: Sequence[float]) -> Summary:
    """Raises ValueError without samples. Quartiles by linear interpolation between order statistics (NumPy's
    default).
    """
    if not samples:
        raise ValueError("no samples")
    ordered = sorted(samples)
    median = statistics.median(ordered)
    half_range = (_quantile(ordered, 0.75) - _quantile(ordered, 0.25)) / 2
    return Summary(median, half_range / median if median else 0.0, len(ordered))


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive values; 0 if one of them is 0. The one mean under which no case's unit weighs more than another's."""
    if not values:
        raise ValueError("no values")
    if len(values) == 1:
        return values[0]
    if any(value <= 0 for value in values):
        return 0.0
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
