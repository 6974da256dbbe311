"""Summarizes samples and decides when a process has made enough of them.

The times of one process are not normally distributed: they have a floor and a long tail. A process is therefore
summarised by its median, whose confidence interval comes from order statistics and holds for every distribution.
Processes differ from one another by more than the uncertainty of their medians, because the loader and the driver place
things differently. The score is therefore the median of three processes' medians, and its interval follows from how
much these three differ.

The stopping criteria follow the idea of NVIDIA's nvbench.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

PROCESSES = 3
#: Student's t for 2 degrees of freedom, 97.5 %.
_T = 4.3027
#: The standard deviation of the median of three normal values, in units of theirs: sqrt(1 - sqrt(3) / pi).
_MEDIAN_OF_THREE = math.sqrt(1.0 - math.sqrt(3.0) / math.pi)
#: The least half-width of an interval, relative to its value: three processes timed within a minute do not sample the
#: GPU's state of another hour. An H100 had two states, for minutes each, in which kernels that compute differed by up
#: to 0.82 % (docs/measurement.md). Two intervals of this half-width overlap where their values differ by 0.9 %.
MIN_RELATIVE_HALF_WIDTH = 0.0045
#: A process stops when half the 95 % interval of its median is at most this share of it: below the least half-width of
#: a score.
TARGET = 0.003
#: The verified calls that every process makes, however soon its median is known: so many, or as many as take FEWEST_S
#: where calls are long. The median of long calls needs few, and the GPU is others' turn too.
MIN_SAMPLES = 50
FEWEST_S = 2.0
#: Where a precision of a percent or more suffices, so many calls, or as many as take so long, tell as much.
_SCREENING, _SCREENING_SAMPLES, _SCREENING_S = 0.01, 20, 0.5
#: The precision that suffices for a time that changes no place on a board.
FAR_PRECISION = 0.02


@dataclass(frozen=True, slots=True)
class Summary:
    """``spread`` is half the interquartile range over the median: one late interrupt does not change it."""

    median: float
    spread: float
    runs: int


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    Each process stops when half the 95 % interval of its median is at most ``target`` of it, but not before it made
    ``calls`` calls, or as many as take ``seconds``.
    """

    target: float = TARGET
    calls: int = MIN_SAMPLES
    seconds: float = FEWEST_S

    @classmethod
    def for_precision(cls, precision: float | None) -> Effort:
        """Returns the effort for a score half of whose interval is about ``precision`` of it; None: a leaderboard's.

        Three processes whose medians have errors of half of that differ so much that the interval of the score is
        as wide (``between_processes``).
        """
        if precision is None or precision <= 2 * TARGET:
            return cls(TARGET, MIN_SAMPLES, FEWEST_S)
        if precision < _SCREENING:
            return cls(precision / 2, MIN_SAMPLES, FEWEST_S)
        return cls(precision / 2, _SCREENING_SAMPLES, _SCREENING_S)


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the ends of its 95 % confidence interval."""

    value: float
    low: float
    high: float


def summarize(samples: Sequence[float]) -> Summary:
    """Returns the median, spread and number of the samples. Raises ValueError without samples.

    Quartiles are interpolated linearly between order statistics, as NumPy does by default.
    """
    if not samples:
        raise ValueError("no samples")
    ordered = sorted(samples)
    median = statistics.median(ordered)
    half_range = (_quantile(ordered, 0.75) - _quantile(ordered, 0.25)) / 2
    return Summary(median, half_range / median if median else 0.0, len(ordered))


def median_interval(samples: Sequence[float]) -> Interval:
    """Returns the median and its 95 % interval by order statistics, for any continuous distribution.

    The interval reaches from the k-th smallest to the k-th largest sample. k is the largest number for which
    2 P(B < k) <= 5 %, where B is binomial with n trials and probability 1/2 (the inverted sign test; W. R. Thompson,
    Annals of Mathematical Statistics 7, 1936). Fewer than six samples have no such k; the interval then spans all of
    them. Raises ValueError without samples.
    """
    if not samples:
        raise ValueError("no samples")
    ordered = sorted(samples)
    rank = max(1, _rank(len(ordered)))
    return Interval(statistics.median(ordered), ordered[rank - 1], ordered[-rank])


def relative_error(samples: Sequence[float]) -> float:
    """Returns half the width of ``median_interval`` over the median; infinity if the median is not positive."""
    found = median_interval(samples)
    return (found.high - found.low) / 2 / found.value if found.value > 0 else math.inf


def between_processes(values: Sequence[float], own_relative: float = 0.0) -> Interval:
    """Returns the median of three processes' values and its 95 % interval.

    The half-width is t s e, where t is Student's for 2 degrees of freedom, s the standard deviation of the three values
    and e = 0.670 the standard error of the median of three normal values in units of their standard deviation
    (H. L. Jones, Annals of Mathematical Statistics 19, 1948). Unlike a mean, the median is not independent of s, so the
    interval covers the true value slightly more often than 95 %: 96.1 % for normal values. The half-width is at least
    ``own_relative`` of the value (the error of the median process by its own samples) and MIN_RELATIVE_HALF_WIDTH.
    Raises ValueError unless there are three values.
    """
    if len(values) != PROCESSES:
        raise ValueError(f"{len(values)} processes, not {PROCESSES}")
    value = statistics.median(values)
    half = max(_T * _MEDIAN_OF_THREE * statistics.stdev(values), own_relative * value, MIN_RELATIVE_HALF_WIDTH * value)
    return Interval(value, max(0.0, value - half), value + half)


def fewest_calls(call_s: float, effort: Effort | None = None) -> int:
    """Returns how many verified calls a process makes at least, if a call takes so long with all that surrounds it."""
    effort = effort or Effort.for_precision(None)
    if not 0 < call_s < math.inf:
        return effort.calls
    return min(effort.calls, math.ceil(effort.seconds / call_s))


def geometric_mean(values: Sequence[float]) -> float:
    """Returns the geometric mean of positive values, or 0 if one of them is 0. Raises ValueError without values.

    It is the only mean under which the unit of one case does not outweigh that of another.
    """
    if not values:
        raise ValueError("no values")
    if len(values) == 1:
        return values[0]
    if any(value <= 0 for value in values):
        return 0.0
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


class Criterion(Protocol):
    """Decides after every accepted burst, from all samples so far, whether there are enough."""

    def is_met(self, samples: Sequence[float], elapsed_s: float) -> bool:
        """Returns whether the samples suffice."""


@dataclass
class Precise:
    """Met when half the 95 % interval of the median is at most ``target`` of the median."""

    target: float = TARGET

    def is_met(self, samples: Sequence[float], elapsed_s: float) -> bool:  # noqa: ARG002 -- the protocol's signature
        return relative_error(samples) <= self.target


@dataclass
class Plateau:
    """Met when the relative error varied by at most ``change`` of itself over the last ``window`` bursts.

    While noise averages out, the error falls with the square root of the number of samples. Once it stays level, what
    remains does not average out and more samples do not help.
    """

    window: int = 5
    change: float = 0.1
    _errors: deque[float] = field(default_factory=deque)

    def is_met(self, samples: Sequence[float], elapsed_s: float) -> bool:  # noqa: ARG002 -- the protocol's signature
        self._errors.append(relative_error(samples))
        if len(self._errors) > self.window:
            self._errors.popleft()
        largest, least = max(self._errors), min(self._errors)
        return len(self._errors) == self.window and largest - least <= self.change * largest


@dataclass
class OutOfTime:
    """Met when ``budget_s`` is used up."""

    budget_s: float

    def is_met(self, samples: Sequence[float], elapsed_s: float) -> bool:  # noqa: ARG002 -- the protocol's signature
        return elapsed_s >= self.budget_s


@dataclass
class StoppingRule:
    """Stops one process at the first criterion that is met, but never before the least number of samples."""

    budget_s: float = 2.0
    effort: Effort = field(default_factory=lambda: Effort.for_precision(None))

    def __post_init__(self) -> None:
        self._criteria: dict[str, Criterion] = {
            "precise": Precise(self.effort.target),
            "plateau": Plateau(),
            "out of time": OutOfTime(self.budget_s),
        }

    def reason_to_stop(
        self, samples: Sequence[float], elapsed_s: float, *, least: int = MIN_SAMPLES, overhead_known: bool = True
    ) -> str:
        """Returns which criterion is met (``precise``, ``plateau`` or ``out of time``), or an empty string to go on.

        ``elapsed_s`` is the time this process has taken so far, ``least`` the least number of samples. Until
        ``overhead_known``, only time can run out.
        """
        if len(samples) < least:
            return ""
        met = [name for name, criterion in self._criteria.items() if criterion.is_met(samples, elapsed_s)]
        return next((name for name in met if overhead_known or name == "out of time"), "")


@functools.cache
def _rank(size: int) -> int:
    """Returns the largest k with 2 P(B < k) <= 5 %, B binomial(size, 1/2); 0 if there is none."""
    below = 0
    for k in range(size // 2 + 1):
        below += math.comb(size, k)
        if 2 * 20 * below > 2**size:
            return k
    return size // 2


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
