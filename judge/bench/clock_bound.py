"""Whether claimed times agree with the supervisor's own clock.

The claims come out of the submission's process; when a call was asked for and when it was answered is known here. What
that takes beside ``solve``, and what lies between two calls, is had from an empty one, timed by the same protocol in a
clean process. Two things are asked:

* How long does a call take? What of it is not in its claim may exceed that of the empty solve by the slack only. Who
  lies about the time is found out by this. Of the calls that decide a process's median, those with the smaller claims,
  that of the lower quartile stands for the process: what makes an answer late, on a busy machine, is not in it. The
  middle process counts, of the submission's and of the empty ones.
* How long does all of it take? Of the bursts of each size the faster half is asked, for the same reason. Work can be
  done before a call is asked for or after it is answered, by who takes over the process: while inputs are made, or
  before the outputs are committed. Bursts of K calls take longer for each call more: the Theil-Sen slope of T over K,
  less that of the empty solve, says by how much, whatever a burst takes once. And since who reads K can make short
  bursts longer until the slope is anything he likes, T(K) of the long bursts, less the empty solve's line at K, over K,
  is a second witness. What surrounds a call is longer than most calls and varies with what the call leaves in caches
  and clocks: both may exceed the claim by a share of it too.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from judge.bench.statistics import PROCESSES, median_interval

#: What a claim may fall short by: of the time seen here, and in seconds; the larger holds.
SLACK_RELATIVE = 0.05
SLACK_S = 5e-6
#: What two bursts of equal K may differ by that has to do with no call.
_ONCE_S = 100e-6
#: By which share of itself what surrounds a call may differ from what surrounds an empty one.
AROUND_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Burst:
    """Calls that were all over ``wall_s`` after the burst was begun. One by one: ``claims_s``, what each is said to
    have taken, and ``beside_s``, what of the time from asking for it to its answer is not in its claim."""

    wall_s: float
    claims_s: tuple[float, ...]
    beside_s: tuple[float, ...]

    @property
    def calls(self) -> int:
        return len(self.claims_s)


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
class Empty:
    """What an empty solve takes: its bursts' line, what its calls read between the two events, and what of a call is
    not in that."""

    line: Line
    claim_s: float
    beside_s: float


def measure_empty(processes: Sequence[Sequence[Burst]]) -> Empty:
    """Of the bursts of several processes. Raises ValueError where all are of one size."""
    line = fit_line(_faster([burst for bursts in processes for burst in bursts]))
    claim_s = statistics.median(statistics.median(_claims(bursts)) for bursts in processes)
    return Empty(line, claim_s, statistics.median(_beside(bursts) for bursts in processes))


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
    """What the clock here says that a call takes more than an empty one: the call by itself; with what surrounds it, by
    the slope (0 for bursts of one size); and likewise by how long bursts took in all. The latter two may be too large
    by ``slope_error_s`` and ``in_all_error_s``."""

    by_call_s: float
    by_slope_s: float
    in_all_s: float
    slope_error_s: float
    in_all_error_s: float


def see(processes: Sequence[Sequence[Burst]], claim_s: float, empty: Empty) -> Seen:
    """Of the bursts of several processes. ``claim_s`` is the median claim of the middle one, less that of the empty
    solve. Raises ValueError without bursts."""
    bursts = _faster([burst for of_process in processes for burst in of_process])
    around_s = AROUND_SHARE * max(0.0, empty.line.each_s)
    by_slope_s = slope_error_s = 0.0
    if len({burst.calls for burst in bursts}) > 1:
        line = fit_line(bursts)
        by_slope_s = line.each_s - empty.line.each_s
        slope_error_s = around_s + math.hypot(line.error_s, empty.line.error_s)
    # Short bursts say nothing that what differs once could not hide.
    longest = [burst for burst in bursts if 2 * burst.calls > max(other.calls for other in bursts)]
    in_all_s = statistics.median((burst.wall_s - empty.line.at(burst.calls)) / burst.calls for burst in longest)
    once_s = statistics.median(_ONCE_S / burst.calls for burst in longest)
    beside_s = statistics.median(_beside(of_process) for of_process in processes)
    return Seen(claim_s + beside_s - empty.beside_s, by_slope_s, in_all_s, slope_error_s, around_s + once_s)


def doubt_claim(claim_s: float, seen: Seen) -> Doubt | None:
    """``claim_s`` as in ``see``, of the calls in the bursts that were ``seen``."""
    for seen_s, error_s in (
        (seen.by_call_s, 0.0),
        (seen.by_slope_s, seen.slope_error_s),
        (seen.in_all_s, seen.in_all_error_s),
    ):
        if claim_s < seen_s - slack(seen_s) - error_s:
            return Doubt(claim_s, seen_s)
    return None


def is_undercut(claim_s: float, seen: Seen) -> bool:
    """Whether what surrounds an empty call was taken for longer than it can be: it has to be measured again."""
    return seen.by_call_s < claim_s - slack(claim_s)


def is_settled(bursts: Sequence[Burst], claim_s: float) -> bool:
    """Whether one process's bursts tell a call's time well enough to judge such a claim, three such processes together
    to a third of the slack; and whether they have a slope."""
    known = median_interval([beside_s for burst in bursts for beside_s in burst.beside_s])
    several = len({burst.calls for burst in bursts}) > 1
    return several and (known.high - known.low) / 2 <= math.sqrt(PROCESSES) * slack(claim_s) / 3


def _claims(bursts: Sequence[Burst]) -> list[float]:
    return [claim_s for burst in bursts for claim_s in burst.claims_s]


def _beside(bursts: Sequence[Burst]) -> float:
    """Of one process: the lower quartile over the calls with the smaller claims."""
    calls = sorted(pair for burst in bursts for pair in zip(burst.claims_s, burst.beside_s, strict=True))
    deciding = sorted(beside_s for _, beside_s in calls[: (len(calls) + 1) // 2])
    return deciding[(len(deciding) - 1) // 4]


def _faster(bursts: Sequence[Burst]) -> list[Burst]:
    """Of each size the faster half."""
    by_size: dict[int, list[Burst]] = {}
    for burst in sorted(bursts, key=lambda burst: burst.wall_s):
        by_size.setdefault(burst.calls, []).append(burst)
    return [burst for same in by_size.values() for burst in same[: (len(same) + 1) // 2]]


def slack(seen_s: float) -> float:
    """By how much a claim may fall short of the seconds seen here."""
    return max(SLACK_RELATIVE * seen_s, SLACK_S)


def _shown(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.3f} ms"
