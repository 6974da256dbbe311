"""Whether claimed times agree with the supervisor's own clock.

The claims come out of the submission's process; when a call was asked for and when it was answered is known here. What
that takes beside ``solve``, and what lies between two calls, is had from an empty one, timed by the same protocol in a
clean process. Two things are asked:

* How long does a call take? What of it is not in its claim may exceed that of the empty calls right after its burst by
  the slack only: what makes answers late for a while, on a busy machine, makes both late. Who lies about the time is
  found out by this. Of a process, the calls that decide its median are asked, those with the smaller claims; of the
  processes the middle one counts. The first call of a burst is not asked: it wakes the process.
* How long does all of it take? Of the bursts of each size the faster half is asked: the others were disturbed. Work can
  be done before a call is asked for or after it is answered, by who takes over the process: while inputs are made, or
  before the outputs are committed. Bursts of K calls take longer for each call more: the Theil-Sen slope of T over K,
  less that of the empty solve, says by how much, whatever a burst takes once. And since who reads K can make short
  bursts longer until the slope is anything he likes, T(K) of the long bursts, less the empty solve's line at K, over K,
  is a second witness. What surrounds a call is longer than most calls and varies with what the call leaves in caches
  and clocks: both may exceed the claim by a share of it too. The empty solve's line is had without a submission, which
  could slow down what runs beside it.
"""

from __future__ import annotations

import dataclasses
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
class EmptyCalls:
    """A few calls of an empty solve, one by one: ``claims_s``, what they read between the two events, ``beside_s``,
    what of the time from asking for a call to its answer is not in that, and whether they were ``preempted``."""

    claims_s: tuple[float, ...]
    beside_s: tuple[float, ...]
    preempted: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Burst:
    """Calls that were all over ``wall_s`` after the burst was begun. One by one: ``claims_s``, what each is said to
    have taken, and ``beside_s``, what of the time from asking for it to its answer is not in its claim. ``empty``:
    calls of an empty solve right after them."""

    wall_s: float
    claims_s: tuple[float, ...]
    beside_s: tuple[float, ...]
    empty: EmptyCalls | None = None

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
    """What an empty solve takes while nothing else is there: its bursts' line, what a call reads between the two
    events, and what is ``beside_s`` that."""

    line: Line
    claim_s: float
    beside_s: float


def measure_empty(processes: Sequence[Sequence[Burst]]) -> Empty:
    """Of the bursts of several processes, beside nothing. Raises ValueError where all are of one size."""
    processes = [[dataclasses.replace(burst, empty=None) for burst in bursts] for bursts in processes]
    line = fit_line(_faster([burst for bursts in processes for burst in bursts]))
    medians = [statistics.median(claim_s for burst in bursts for claim_s in burst.claims_s) for bursts in processes]
    beside_s = statistics.median(statistics.median(_beside(bursts)) for bursts in processes)
    return Empty(line, statistics.median(medians), beside_s)


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
    beside_s = statistics.median(statistics.median(_beside(of_process, empty)) for of_process in processes)
    return Seen(claim_s + beside_s, by_slope_s, in_all_s, slope_error_s, around_s + once_s)


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


def is_settled(bursts: Sequence[Burst], claim_s: float) -> bool:
    """Whether one process's bursts tell a call's time well enough to judge such a claim, three such processes together
    to a third of the slack; and whether they have a slope."""
    known = median_interval(_beside(bursts))
    several = len({burst.calls for burst in bursts}) > 1
    return several and (known.high - known.low) / 2 <= math.sqrt(PROCESSES) * slack(claim_s) / 3


def _beside(bursts: Sequence[Burst], empty: Empty | None = None) -> list[float]:
    """Of one process: by how much what surrounds a call exceeds what surrounded the empty ones after its burst, over
    the calls with the smaller claims but the first of each burst (where bursts have more than one)."""
    first = 1 if any(burst.calls > 1 for burst in bursts) else 0
    calls = []
    for burst in bursts:
        usual_s = _usual(burst.empty, empty)
        asked = zip(burst.claims_s[first:], burst.beside_s[first:], strict=True)
        calls += [(claim_s, beside_s - usual_s) for claim_s, beside_s in asked]
    calls.sort()
    return [more_s for _, more_s in calls[: (len(calls) + 1) // 2]]


def _usual(calls: EmptyCalls | None, empty: Empty | None) -> float:
    """What surrounds an empty call; nothing where something else ran on the GPU at the time, by what they read; and of
    calls that something else took the processor from no more than surrounds one with nothing else there: who goes on
    working while it is somebody else's turn shall not gain by it."""
    if calls is None:
        return 0.0
    if empty is None:
        return statistics.median(calls.beside_s)
    if statistics.median(calls.claims_s) > empty.claim_s + SLACK_S:
        return 0.0
    return statistics.median(
        min(beside_s, empty.beside_s) if preempted else beside_s
        for beside_s, preempted in zip(calls.beside_s, calls.preempted, strict=True)
    )


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
