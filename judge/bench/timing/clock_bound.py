"""Compares claimed times with the supervisor's own clock.

Claims come out of the submission's process. The supervisor knows when it requested a call and when the reply arrived.
The difference between that wall time and the claim is the call's overhead. A null kernel (an empty ``solve``), timed by
the same protocol in a clean process, tells how large the overhead and the time between two calls should be. Two
questions are asked:

* How long does one call take? The overhead of a call may exceed the overhead of the null calls right after the same
  burst by the slack only: a busy machine delays both. This exposes a false timer. Of each process, only the half of the
  calls with the smaller claims is used, since these decide the median; of the three processes, the middle one. The
  first call of a burst is not used, because it wakes the process up.
* How long do all calls take together? Code that takes over the process can also work before a call is requested, while
  inputs are made, or after the reply, before the outputs are committed. Bursts of K calls take longer with each call:
  the Theil-Sen slope of T over K, less the null kernel's slope, is the time per call, whatever a burst costs once. Code
  that reads K can delay short bursts until the slope is whatever it likes. T(K) of the long bursts, less the null
  kernel's line at K, divided by K, is therefore a second witness. Of the bursts of each size only the faster half is
  used, since the others were disturbed. The time around a call is longer than most calls, and it varies with what the
  call leaves behind in caches and clocks. Both estimates may therefore exceed the claim by a share of that time as
  well. The null kernel's line is measured while no submission runs, since a submission could slow down what runs beside
  it.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from judge.bench.plausibility import LEAST_S
from judge.bench.statistics import PROCESSES, median_interval

#: How far a claim may fall short of the supervisor's estimate, as a share of it and in seconds; the larger one applies.
SLACK_RELATIVE = 0.05
SLACK_S = 5e-6
#: An overhead is known if its interval reaches no further than this share of the slack, which covers so much.
_KNOWN_SHARE = 1 / 3
#: A claim that falls short of the least that is not contradicted by up to this share of its slack counts as that.
_SLIGHT_SHARE = 0.5
#: How much two bursts of equal K may differ for reasons that do not depend on K.
_FIXED_DIFFERENCE_S = 100e-6
#: By what share of itself the time around a call may differ from the time around a null call.
AROUND_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class NullCalls:
    """A few calls of the null kernel, one entry each.

    ``claims_s`` are the times between the two events, ``overhead_s`` the rest of each call's wall time, and
    ``preempted`` says whether the process lost its processor meanwhile.
    """

    claims_s: tuple[float, ...]
    overhead_s: tuple[float, ...]
    preempted: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Burst:
    """Calls made one after the other, all over ``wall_s`` after the burst began.

    ``claims_s`` and ``overhead_s`` have one entry per call: the claimed time, and the rest of the call's wall time.
    ``null_calls`` are the null kernel's calls right after the burst.
    """

    wall_s: float
    claims_s: tuple[float, ...]
    overhead_s: tuple[float, ...]
    null_calls: NullCalls | None = None

    @property
    def calls(self) -> int:
        return len(self.claims_s)


@dataclass(frozen=True, slots=True)
class Line:
    """The wall time of a burst of K calls: ``fixed_s`` + K ``per_call_s``.

    ``error_s`` is half the 95 % interval of ``per_call_s``.
    """

    fixed_s: float
    per_call_s: float
    error_s: float

    def at(self, calls: int) -> float:
        return self.fixed_s + calls * self.per_call_s


def fit_line(bursts: Sequence[Burst]) -> Line:
    """Returns the Theil-Sen line: the median slope of all pairs with different K, and the median intercept.

    Up to 29 % outliers do not move it. The interval reaches 0.98 standard deviations of Kendall's statistic from the
    middle slope to either side (P. K. Sen, Journal of the American Statistical Association 63, 1968). Raises ValueError
    if all bursts have the same K.
    """
    slopes = sorted(
        (b.wall_s - a.wall_s) / (b.calls - a.calls)
        for i, a in enumerate(bursts)
        for b in bursts[i + 1 :]
        if a.calls != b.calls
    )
    if not slopes:
        raise ValueError("bursts of one size have no slope")
    per_call_s = statistics.median(slopes)
    fixed_s = statistics.median(burst.wall_s - burst.calls * per_call_s for burst in bursts)
    size = len(bursts)
    # Half of 1.96 sqrt(n (n - 1) (2 n + 5) / 18): pairs between the middle and an end of the interval.
    reach = 0.98 * math.sqrt(size * (size - 1) * (2 * size + 5) / 18)
    low = slopes[max(0, math.floor((len(slopes) - 1) / 2 - reach))]
    high = slopes[min(len(slopes) - 1, math.ceil((len(slopes) - 1) / 2 + reach))]
    return Line(fixed_s, per_call_s, (high - low) / 2)


@dataclass(frozen=True, slots=True)
class NullBaseline:
    """The null kernel's times while nothing else runs: the line of its bursts, and one call's claim and overhead."""

    line: Line
    claim_s: float
    overhead_s: float


def fit_baseline(processes: Sequence[Sequence[Burst]]) -> NullBaseline:
    """Returns the baseline from several processes' bursts. Raises ValueError if all bursts have the same K."""
    processes = [[dataclasses.replace(burst, null_calls=None) for burst in bursts] for bursts in processes]
    line = fit_line(_faster_half([burst for bursts in processes for burst in bursts]))
    medians = [statistics.median(claim_s for burst in bursts for claim_s in burst.claims_s) for bursts in processes]
    overhead_s = statistics.median(statistics.median(_excess_overhead(bursts)) for bursts in processes)
    return NullBaseline(line, statistics.median(medians), overhead_s)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A claim that the supervisor's clock contradicts: one call's seconds as claimed and as estimated by the clock.

    ``least_s`` is the shortest claim that the estimate would not have contradicted.
    """

    claim_s: float
    clock_s: float
    least_s: float

    @property
    def is_slight(self) -> bool:
        """Whether ``least_s`` may count in place of the claim.

        It gains nothing to claim less than ``least_s`` then, and an honest kernel whose replies the machine delays for
        minutes loses a few per cent of its time instead of its verdict.
        """
        return self.claim_s >= self.least_s - _SLIGHT_SHARE * slack(self.least_s)

    def __str__(self) -> str:
        return (
            f"a call is said to take {in_words(self.claim_s)}, but by the judge's own clock each takes "
            f"{in_words(self.clock_s)} more than an empty one"
        )


@dataclass(frozen=True, slots=True)
class ClockEstimate:
    """The supervisor's estimates of how much longer a call takes than a null call, in seconds.

    ``by_call_s`` is from single calls, ``by_slope_s`` from the slope of T over K (0 if all bursts have the same K), and
    ``in_all_s`` from the whole length of the long bursts. They may be too large by ``by_call_error_s``,
    ``slope_error_s`` and ``in_all_error_s``.
    """

    by_call_s: float
    by_slope_s: float
    in_all_s: float
    by_call_error_s: float
    slope_error_s: float
    in_all_error_s: float


def estimate_call_time(processes: Sequence[Sequence[Burst]], claim_s: float, baseline: NullBaseline) -> ClockEstimate:
    """Returns the clock's estimates from several processes' bursts. Raises ValueError without bursts.

    ``claim_s`` is the median claim of the middle process, less the null kernel's claim.
    """
    bursts = _faster_half([burst for of_process in processes for burst in of_process])
    around_s = AROUND_SHARE * max(0.0, baseline.line.per_call_s)
    by_slope_s = slope_error_s = 0.0
    if len({burst.calls for burst in bursts}) > 1:
        line = fit_line(bursts)
        by_slope_s = line.per_call_s - baseline.line.per_call_s
        slope_error_s = around_s + math.hypot(line.error_s, baseline.line.error_s)
    # In short bursts, a difference that does not depend on K would hide the calls.
    longest = [burst for burst in bursts if 2 * burst.calls > max(other.calls for other in bursts)]
    in_all_s = statistics.median((burst.wall_s - baseline.line.at(burst.calls)) / burst.calls for burst in longest)
    fixed_s = statistics.median(_FIXED_DIFFERENCE_S / burst.calls for burst in longest)
    excess = [median_interval(_excess_overhead(of_process, baseline)) for of_process in processes]
    by_call_s = claim_s + statistics.median(found.value for found in excess)
    lowest_s = claim_s + statistics.median(found.low for found in excess)
    by_call_error_s = max(0.0, by_call_s - lowest_s - _KNOWN_SHARE * slack(by_call_s))
    return ClockEstimate(by_call_s, by_slope_s, in_all_s, by_call_error_s, slope_error_s, around_s + fixed_s)


def find_contradiction(claim_s: float, estimate: ClockEstimate) -> Contradiction | None:
    """Returns the strongest contradiction of ``claim_s`` (as in ``estimate_call_time``), or None."""
    bounds = [
        Contradiction(claim_s, clock_s, clock_s - slack(clock_s) - error_s)
        for clock_s, error_s in (
            (estimate.by_call_s, estimate.by_call_error_s),
            (estimate.by_slope_s, estimate.slope_error_s),
            (estimate.in_all_s, estimate.in_all_error_s),
        )
    ]
    strongest = max(bounds, key=lambda bound: bound.least_s)
    return strongest if claim_s < strongest.least_s else None


def why_call_implausible(claim_s: float, wall_s: float) -> str:
    """Returns why the claimed time of one call is impossible, or an empty string.

    ``wall_s`` is the time that the supervisor measured from requesting the call to receiving its reply. The GPU's clock
    and the host's disagree when a virtual machine is halted, so a claim may exceed it by the same slack by which it may
    fall short of it: a claim that is too long gains nothing.
    """
    if not math.isfinite(claim_s) or claim_s < LEAST_S:
        return f"a call is said to have taken {claim_s:.3g} s, less than an empty one takes"
    if claim_s > wall_s + slack(wall_s):
        return f"a call is said to have taken {claim_s * 1e6:.1f} µs, but it was over after {wall_s * 1e6:.1f} µs"
    return ""


def is_overhead_known(bursts: Sequence[Burst], claim_s: float, *, has_slope: bool = True) -> bool:
    """Returns whether one process's bursts suffice to check such a claim: overhead known, and a slope defined.

    Without ``has_slope`` calls are so long that all bursts have one call each: there will be no slope.

    The overhead is known if the half-width of its interval, for three such processes together, is at most
    ``_KNOWN_SHARE`` of the slack.
    """
    known = median_interval(_excess_overhead(bursts))
    several = len({burst.calls for burst in bursts}) > 1
    most_s = math.sqrt(PROCESSES) * _KNOWN_SHARE * slack(claim_s)
    return (several or not has_slope) and (known.high - known.low) / 2 <= most_s


def _excess_overhead(bursts: Sequence[Burst], baseline: NullBaseline | None = None) -> list[float]:
    """Returns by how much the overhead of one process's calls exceeds that of the null calls after the same burst.

    Only the half of the calls with the smaller claims is used, without the first call of each burst (if bursts have
    more than one).
    """
    first = 1 if any(burst.calls > 1 for burst in bursts) else 0
    calls = []
    for burst in bursts:
        null_s = _null_overhead(burst.null_calls, baseline)
        used = zip(burst.claims_s[first:], burst.overhead_s[first:], strict=True)
        calls += [(claim_s, overhead_s - null_s) for claim_s, overhead_s in used]
    calls.sort()
    return [excess_s for _, excess_s in calls[: (len(calls) + 1) // 2]]


def _null_overhead(calls: NullCalls | None, baseline: NullBaseline | None) -> float:
    """Returns the overhead of a null call beside the submission.

    It is 0 if the claims show that something else kept the GPU busy. A preempted call counts with no more overhead than
    the baseline's: a submission that keeps working while it is not its turn must not gain by that.
    """
    if calls is None:
        return 0.0
    if baseline is None:
        return statistics.median(calls.overhead_s)
    if statistics.median(calls.claims_s) > baseline.claim_s + SLACK_S:
        return 0.0
    return statistics.median(
        min(overhead_s, baseline.overhead_s) if preempted else overhead_s
        for overhead_s, preempted in zip(calls.overhead_s, calls.preempted, strict=True)
    )


def _faster_half(bursts: Sequence[Burst]) -> list[Burst]:
    """Returns the faster half of the bursts of each size."""
    by_size: dict[int, list[Burst]] = {}
    for burst in sorted(bursts, key=lambda burst: burst.wall_s):
        by_size.setdefault(burst.calls, []).append(burst)
    return [burst for same in by_size.values() for burst in same[: (len(same) + 1) // 2]]


def slack(clock_s: float) -> float:
    """Returns by how many seconds a claim may fall short of the clock's estimate."""
    return max(SLACK_RELATIVE * clock_s, SLACK_S)


def in_words(seconds: float) -> str:
    """Returns a time in µs or ms."""
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.3f} ms"
