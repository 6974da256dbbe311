"""What is made of samples: medians, their intervals, means over cases.

Times of one process are not normal (they have a floor and a tail), so a process is told by its median, and how well
that is known by order statistics, which hold for every distribution. Processes differ from each other by more than
their medians are uncertain: where the loader put things, which pages were had. Hence a score is the median of three
processes' medians, and its interval comes from how these differ.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

PROCESSES = 3
#: Student's t for 2 degrees of freedom, 97.5 %.
_T = 4.3027
#: The standard deviation of the middle of three normal values, in theirs: sqrt(1 - sqrt(3) / pi).
_MIDDLE_OF_THREE = math.sqrt(1.0 - math.sqrt(3.0) / math.pi)
#: No interval is narrower than this to either side, of the value: three processes within a minute do not see what
#: another hour's temperature and clocks do.
LEAST_RELATIVE = 0.003


@dataclass(frozen=True, slots=True)
class Summary:
    """``spread`` is half the interquartile range over the median: robust against the odd late interrupt."""

    median: float
    spread: float
    runs: int


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


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


def median_interval(samples: Sequence[float]) -> Interval:
    """The median and its 95 % interval by order statistics, for samples of any continuous distribution.

    It goes from the k-th smallest to the k-th largest, k being the largest for which 2 P(B < k) <= 5 %, B binomial with
    n and 1/2 (the sign test turned around; W. R. Thompson, Annals of Mathematical Statistics 7, 1936). Fewer than six
    samples have no such k: then it is all of them. Raises ValueError without samples.
    """
    if not samples:
        raise ValueError("no samples")
    ordered = sorted(samples)
    rank = max(1, _rank(len(ordered)))
    return Interval(statistics.median(ordered), ordered[rank - 1], ordered[-rank])


def relative_error(samples: Sequence[float]) -> float:
    """Half the width of ``median_interval``, over the median; infinite where that is not positive."""
    found = median_interval(samples)
    return (found.high - found.low) / 2 / found.value if found.value > 0 else math.inf


def between_processes(values: Sequence[float], own_relative: float = 0.0) -> Interval:
    """The median of three processes' values and its 95 % interval.

    Half its width is t s e: t Student's for 2 degrees of freedom, s the standard deviation of the three, e = 0.670 the
    standard error of the middle of three normal values in units of theirs (H. L. Jones, Annals of Mathematical
    Statistics 19, 1948). The middle and s are not independent, as they are for the mean, and the interval holds the
    true value a little more often than 95 %: 96.1 % for normal values. It is at least ``own_relative`` of the value
    (what is known of the middle process by its own samples) and LEAST_RELATIVE. Raises ValueError unless there are
    three.
    """
    if len(values) != PROCESSES:
        raise ValueError(f"{len(values)} processes, not {PROCESSES}")
    value = statistics.median(values)
    half = max(_T * _MIDDLE_OF_THREE * statistics.stdev(values), own_relative * value, LEAST_RELATIVE * value)
    return Interval(value, max(0.0, value - half), value + half)


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive values; 0 if one of them is 0. The one mean under which no case's unit weighs more than another's."""
    if not values:
        raise ValueError("no values")
    if len(values) == 1:
        return values[0]
    if any(value <= 0 for value in values):
        return 0.0
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


@functools.cache
def _rank(size: int) -> int:
    """The largest k with 2 P(B < k) <= 5 %, B binomial(size, 1/2); 0 where there is none."""
    below = 0
    for k in range(size // 2 + 1):
        below += math.comb(size, k)
        if 2 * 20 * below > 2**size:
            return k
    return size // 2


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
