"""Whether claimed times agree with the supervisor's own clock.

The claims come out of the submission's process; when a burst of K calls was asked for and when it was answered is
known here. What a call takes around ``solve`` is had from an empty one, timed by the same protocol in a clean process.
Two questions are asked of the bursts:

* How much longer is a burst for each call more? The Theil-Sen slope of T over K, less that of the empty solve, may
  exceed the claim by the slack only. What a burst takes once, whatever K, drops out.
* How long did the long bursts take in all? Who reads K in his own memory can make short bursts longer until the slope
  is anything he likes. But every burst takes as long as its work, so that T(K), less the empty solve's line at K, over
  K, may not exceed the claim by more than the slack and what K calls may differ once.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from judge.bench.statistics import PROCESSES

#: What a claim may fall short by: of the time seen here, and in seconds; the larger holds.
SLACK_RELATIVE = 0.05
SLACK_S = 5e-6
#: What two bursts of equal K may differ by that has to do with no call: the message there and back.
_ONCE_S = 30e-6


@dataclass(frozen=True, slots=True)
class Burst:
    """``calls`` calls that were over ``wall_s`` after they were asked for."""

    calls: int
    wall_s: float


@dataclass(frozen=True, slots=True)
class Line:
    """``once_s`` and ``each_s``: a burst of K calls takes once_s + K each_s. ``error_s`` is half the 95 % interval of
    ``each_s``."""

    once_s: float
    each_s: float
    error_s: float

    def at(self, calls: int) -> float:
        return self.once_s + calls * self.each_s


def fit_line(bursts: Sequence[Burst]) -> Line:
    """Theil-Sen: the median of the slopes of all pairs with different K, and the median of what is left of each.

    Unmoved by outliers as long as they are fewer than 29 % (P. K. Sen, Journal of the American Statistical Association
    63, 1968, also for the interval: the slopes that lie 0.98 standard deviations of Kendall's statistic from the
    middle one). Raises ValueError where all K are the same.
    """
    slopes = sorted(
        (b.wall_s - a.wall_s) / (b.calls - a.calls)
        for i, a in enumerate(bursts)
        for b in bursts[i + 1 :]
        if a.calls != b.calls
    )
    if not slopes:
        raise ValueError("bursts of one size have no slope")
    each_s = statistics.median(slopes)
    once_s = statistics.median(burst.wall_s - burst.calls * each_s for burst in bursts)
    size = len(bursts)
    # Half of 1.96 sqrt(n (n - 1) (2 n + 5) / 18): pairs between the middle and an end of the interval.
    reach = 0.98 * math.sqrt(size * (size - 1) * (2 * size + 5) / 18)
    low = slopes[max(0, math.floor((len(slopes) - 1) / 2 - reach))]
    high = slopes[min(len(slopes) - 1, math.ceil((len(slopes) - 1) / 2 + reach))]
    return Line(once_s, each_s, (high - low) / 2)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A claim that the clock here contradicts: seconds of a call as claimed and as seen here."""

    claim_s: float
    seen_s: float

    def __str__(self) -> str:
        return (
            f"a call is said to take {_shown(self.claim_s)}, but by the judge's own clock each takes "
            f"{_shown(self.seen_s)} more than an empty one"
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """What the clock here says that a call takes more than an empty one: by the slope (0 for bursts of one size), and
    in all, which what differs once may have made longer by ``once_s``."""

    by_slope_s: float
    in_all_s: float
    once_s: float


def see(bursts: Sequence[Burst], empty: Line) -> Seen:
    """``empty`` is the line of the empty solve."""
    by_slope_s = fit_line(bursts).each_s - empty.each_s if len({burst.calls for burst in bursts}) > 1 else 0.0
    # Short bursts say nothing that what differs once could not hide.
    longest = [burst for burst in bursts if 2 * burst.calls > max(other.calls for other in bursts)]
    in_all_s = statistics.median((burst.wall_s - empty.at(burst.calls)) / burst.calls for burst in longest)
    return Seen(by_slope_s, in_all_s, statistics.median(_ONCE_S / burst.calls for burst in longest))


def doubt_claim(claim_s: float, seen: Seen) -> Doubt | None:
    """``claim_s`` is the median of the claims of the calls in the bursts that were ``seen``."""
    if claim_s < seen.by_slope_s - slack(seen.by_slope_s):
        return Doubt(claim_s, seen.by_slope_s)
    if claim_s < seen.in_all_s - slack(seen.in_all_s) - seen.once_s:
        return Doubt(claim_s, seen.in_all_s)
    return None


def is_settled(bursts: Sequence[Burst], claim_s: float) -> bool:
    """Whether one process's bursts tell the slope well enough to judge such a claim: three such processes together
    know it to a third of the slack."""
    several = len({burst.calls for burst in bursts}) > 1
    return several and fit_line(bursts).error_s <= math.sqrt(PROCESSES) * slack(claim_s) / 3


def slack(seen_s: float) -> float:
    """By how much a claim may fall short of the seconds seen here."""
    return max(SLACK_RELATIVE * seen_s, SLACK_S)


def _shown(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.3f} ms"
