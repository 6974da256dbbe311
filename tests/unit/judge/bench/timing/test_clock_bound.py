"""The bound on simulated clocks: honest ones over thousands of seeds, and liars of several kinds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest

from judge.bench.timing.clock_bound import (
    AROUND_SHARE,
    Burst,
    NullCalls,
    estimate_call_time,
    find_contradiction,
    fit_baseline,
    fit_line,
    is_overhead_known,
    slack,
    why_call_implausible,
)

#: What a call takes around solve: contents made, caches flushed, outputs looked at.
AROUND_S = 400e-6
ONCE_S = 120e-6
#: What the message there and back takes.
TRIP_S = 30e-6
#: What an empty call reads between the two events.
EMPTY_S = 3e-6
#: By how much processes differ: where each runs, near the supervisor's processor or far from it. The lower quartiles of
#: a dozen on a machine with two H200s, both in use, had this standard deviation.
PLACE_S = 3.4e-6
SIZES = (1, 4, 8, 12, 16) * 2


class Machine:
    """A clock with the noise of a busy host.

    Each call is late by a little, each burst by more, now and then by far more; each process is a little different from
    the others.
    """

    def __init__(self, seed: int, *, noise: float = 1.0, sizes: tuple[int, ...] = SIZES) -> None:
        self._draw = np.random.default_rng(seed)
        self._noise = noise
        self._sizes = sizes
        self._empty_place = 0.0

    def process(
        self,
        true_s: float,
        share: float = 1.0,
        delay: Callable[[int], float] = lambda _: 0.0,
        *,
        around_s: float = 0.0,
        moved: float = 0.0,
    ) -> list[Burst]:
        """Returns the bursts of one process whose solve takes ``true_s`` and claims ``share`` of it.

        ``around_s``: by how much what surrounds a call differs from what surrounds an empty one; ``moved``: which share
        of the work is done there.
        """
        draw, noise = self._draw, self._noise
        around = AROUND_S * (1 + 0.002 * noise * draw.standard_normal()) + around_s
        once = ONCE_S * (1 + 0.1 * noise * draw.standard_normal())
        place = PLACE_S * noise * draw.standard_normal()
        bursts = []
        for calls in self._sizes:
            times = true_s * (1 + 0.005 * noise * draw.standard_normal(calls)) + noise * draw.exponential(0.2e-6, calls)
            trips = TRIP_S + noise * draw.exponential(2e-6, calls)
            jitter = noise * (draw.exponential(1e-6, calls).sum() + draw.exponential(20e-6))
            late = noise * draw.exponential(2e-3) if draw.random() < 0.03 else 0.0
            wall_s = once + calls * around + times.sum() + jitter + late + delay(calls)
            # What the machine does besides makes all answers late for a while.
            busy_s = noise * draw.exponential(60e-6) if draw.random() < 0.3 else 0.0
            overhead_s = tuple(((1 - moved - share) * times + trips + place + busy_s).tolist())
            empty_s = TRIP_S + noise * draw.exponential(2e-6, 3) + self._empty_place + busy_s
            empty = NullCalls((EMPTY_S,) * 3, tuple(empty_s.tolist()), (False,) * 3)
            bursts.append(Burst(wall_s + (trips + busy_s).sum(), tuple((share * times).tolist()), overhead_s, empty))
        return bursts

    def doubts(
        self, true_s: float, share: float = 1.0, delay: Callable[[int], float] = lambda _: 0.0, **how: float
    ) -> bool:
        """As in a judgement: three processes against an empty solve, and twice more at a doubt."""
        for _ in range(3):
            empty = fit_baseline([self.process(EMPTY_S) for _ in range(3)])
            self._empty_place = PLACE_S * self._noise * self._draw.standard_normal()
            timed = [self.process(EMPTY_S + true_s, share, delay, **how) for _ in range(3)]
            medians = [np.median([claim_s for burst in bursts for claim_s in burst.claims_s]) for bursts in timed]
            claim_s = float(np.median(medians)) - EMPTY_S
            if find_contradiction(claim_s, estimate_call_time(timed, claim_s, empty)) is None:
                return False
        return True


@pytest.mark.exhaustive
@pytest.mark.parametrize("true_s", [10e-6, 50e-6, 200e-6, 1e-3])
def test_honest_kernels_are_hardly_ever_contradicted(true_s: float) -> None:
    assert sum(Machine(seed).doubts(true_s) for seed in range(1000)) <= 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("true_s", [50e-6, 100e-6, 200e-6, 1e-3])
def test_claims_of_half_the_time_are_contradicted(true_s: float) -> None:
    assert all(Machine(seed).doubts(true_s, 0.5) for seed in range(100))


@pytest.mark.exhaustive
@pytest.mark.parametrize("true_s", [200e-6, 400e-6, 1e-3])
def test_claims_of_somewhat_less_are_contradicted(true_s: float) -> None:
    assert sum(Machine(seed).doubts(true_s, 0.85) for seed in range(100)) >= 95


@pytest.mark.parametrize("sizes", [(1, 2), (2, 4, 1, 3)])
def test_few_calls_accuse_no_honest_kernel(sizes: tuple[int, ...]) -> None:
    """Where the host takes a second to make inputs, a process makes few calls, and the overhead is hardly known."""
    assert sum(Machine(seed, sizes=sizes).doubts(200e-6) for seed in range(300)) <= 1


@pytest.mark.parametrize("sizes", [(1, 2), (2, 4, 1, 3)])
def test_few_calls_suffice_to_contradict_claims_of_half_the_time(sizes: tuple[int, ...]) -> None:
    assert sum(Machine(seed, sizes=sizes).doubts(400e-6, 0.5) for seed in range(100)) >= 98


@pytest.mark.exhaustive
@pytest.mark.parametrize("around_s", [-60e-6, 60e-6])
def test_the_time_around_a_call_may_differ_by_a_share_of_itself(around_s: float) -> None:
    assert sum(Machine(seed).doubts(200e-6, around_s=around_s) for seed in range(300)) <= 1


def test_work_done_around_the_call_is_contradicted() -> None:
    """An attacker who takes the process over can work before the call is asked for, or after the answer."""
    assert all(Machine(seed).doubts(400e-6, 0.5, moved=0.5) for seed in range(100))


def test_short_bursts_made_longer_hide_nothing() -> None:
    """An attacker who knows a burst's length can make all take equally long.

    The slope is zero then, but no burst is shorter than its work.
    """
    machine = Machine(3)
    equal = machine.process(400e-6, 0.5, lambda calls: (16 - calls) * (AROUND_S + TRIP_S + 400e-6))
    assert abs(fit_line(equal).per_call_s) < 20e-6
    hidden = [Machine(seed).doubts(400e-6, 0.5, lambda calls: (16 - calls) * 800e-6, moved=0.5) for seed in range(100)]
    assert all(hidden)


def _bursts(per_call_s: float, overhead_s: float, fixed_s: float = 0.0) -> list[Burst]:
    return [_burst(calls, fixed_s + calls * per_call_s, overhead_s) for calls in SIZES]


def _burst(calls: int, wall_s: float, overhead_s: float = 30e-6) -> Burst:
    """Beside empty calls with 30 µs around them."""
    return Burst(wall_s, (EMPTY_S,) * calls, (overhead_s,) * calls, _empty_calls(30e-6))


def _empty_calls(overhead_s: float, claim_s: float = EMPTY_S, *, preempted: bool = False) -> NullCalls:
    return NullCalls((claim_s,) * 3, (overhead_s,) * 3, (preempted,) * 3)


def test_bursts_of_one_size_are_judged_by_their_length() -> None:
    empty = fit_baseline([_bursts(0.5e-3, 0.1e-3, 0.5e-3)])
    lone = [[_burst(1, 2e-3)] * 5]
    assert find_contradiction(0.8e-3, estimate_call_time(lone, 0.8e-3, empty)) is None
    doubt = find_contradiction(0.5e-3, estimate_call_time(lone, 0.5e-3, empty))
    assert doubt is not None
    assert "500.0 µs" in str(doubt)
    assert "1000.0 µs" in str(doubt)


def test_the_slack_is_five_per_cent_or_five_microseconds() -> None:
    assert slack(10e-6) == pytest.approx(5e-6)
    assert slack(1e-3) == pytest.approx(50e-6)
    empty = fit_baseline([_bursts(100e-6, 30e-6)])
    for claim_s, doubted in ((0.951e-3, False), (0.949e-3, True)):
        lies = [_bursts(1100e-6, 30e-6 + 1e-3 - claim_s)]
        assert (find_contradiction(claim_s, estimate_call_time(lies, claim_s, empty)) is not None) is doubted
        # Work that was done outside of the call has more room.
        moved_s = claim_s - AROUND_SHARE * 100e-6
        assert (
            find_contradiction(moved_s, estimate_call_time([_bursts(1100e-6, 30e-6)], moved_s, empty)) is not None
        ) is doubted


@pytest.mark.parametrize("claim", [0.0, -1.0, math.nan, math.inf, -math.inf, 1e-7])
def test_a_time_close_to_zero_is_implausible(claim: float) -> None:
    assert "less than an empty one" in why_call_implausible(claim, 1.0)


def test_a_call_longer_than_its_wall_time_is_implausible() -> None:
    assert "it was over after" in why_call_implausible(1.1e-3, 1e-3)
    assert "it was over after" in why_call_implausible(16e-6, 10e-6)


def test_the_clocks_of_gpu_and_host_may_disagree_a_little() -> None:
    assert why_call_implausible(1.1e-3, 1.2e-3) == ""
    assert why_call_implausible(7.06e-3, 7.05e-3) == ""
    assert why_call_implausible(14e-6, 10e-6) == ""


@pytest.mark.parametrize(
    ("true_s", "claim_s", "least_s", "slight"),
    [
        (1e-3, 0.93e-3, 0.95e-3, True),
        (1e-3, 0.92e-3, 0.95e-3, False),
        (10e-6, 3e-6, 5e-6, True),
        (20e-6, 12e-6, 15e-6, False),
    ],
)
def test_a_claim_that_lacks_half_of_the_slack_more_counts_as_what_the_slack_leaves(
    true_s: float, claim_s: float, least_s: float, slight: bool
) -> None:
    empty = fit_baseline([_bursts(100e-6, 30e-6)])
    lies = [_bursts(100e-6 + true_s, 30e-6 + true_s - claim_s)]
    found = find_contradiction(claim_s, estimate_call_time(lies, claim_s, empty))
    assert found is not None
    assert found.least_s == pytest.approx(least_s)
    assert found.is_slight is slight


def test_a_slight_contradiction_hides_no_stronger_one() -> None:
    """By single calls the claim is a little short; by their number it is half of the time."""
    empty = fit_baseline([_bursts(100e-6, 30e-6)])
    lies = [_bursts(2.1e-3, 30e-6 + 70e-6)]
    found = find_contradiction(0.93e-3, estimate_call_time(lies, 0.93e-3, empty))
    assert found is not None
    assert found.clock_s == pytest.approx(2e-3)
    assert not found.is_slight


def test_the_middle_process_counts() -> None:
    empty = fit_baseline([_bursts(100e-6, 30e-6)])
    honest, late = _bursts(300e-6, 30e-6), _bursts(300e-6, 130e-6)
    assert find_contradiction(200e-6, estimate_call_time([honest, honest, late], 200e-6, empty)) is None
    assert find_contradiction(200e-6, estimate_call_time([honest, late, late], 200e-6, empty)) is not None


def test_load_that_delays_all_replies_contradicts_no_claim() -> None:
    """For half of the bursts the machine does something else, and of each size there is a slow one."""
    empty = fit_baseline([_bursts(100e-6, 30e-6)])
    busy = [
        Burst(
            burst.wall_s + slow_s,
            burst.claims_s,
            (30e-6 + late_s,) * burst.calls,
            _empty_calls(30e-6 + late_s),
        )
        for burst, slow_s, late_s in zip(_bursts(300e-6, 30e-6), [0.0, 2e-3] * 5, [0.0, 50e-6] * 5, strict=True)
    ]
    assert find_contradiction(200e-6, estimate_call_time([busy], 200e-6, empty)) is None


def test_keeping_the_gpu_busy_during_null_calls_gains_nothing() -> None:
    """The empty calls read more than they do alone, and everything around them takes longer."""
    empty = fit_baseline([_bursts(100e-6, 30e-6)])
    disturbed = _empty_calls(230e-6, EMPTY_S + 400e-6)
    lies = [dataclasses.replace(burst, null_calls=disturbed) for burst in _bursts(300e-6, 130e-6)]
    assert find_contradiction(100e-6, estimate_call_time([lies], 100e-6, empty)) is not None


def test_keeping_the_processor_busy_during_null_calls_gains_nothing() -> None:
    """The empty calls take longer, but lose their processor meanwhile: they count as they do alone."""
    empty = fit_baseline([_bursts(100e-6, 30e-6)])
    assert empty.overhead_s == pytest.approx(30e-6)
    for preempted, clock_s in ((False, 100e-6), (True, 200e-6)):
        late = _empty_calls(130e-6, preempted=preempted)
        lies = [dataclasses.replace(burst, null_calls=late) for burst in _bursts(200e-6, 130e-6)]
        assert estimate_call_time([lies], 100e-6, empty).by_call_s == pytest.approx(clock_s)
        hasty = _empty_calls(20e-6, preempted=preempted)
        honest = [dataclasses.replace(burst, null_calls=hasty) for burst in _bursts(200e-6, 20e-6)]
        assert estimate_call_time([honest], 100e-6, empty).by_call_s == pytest.approx(100e-6)


def test_only_calls_that_decide_the_median_are_used() -> None:
    """An attacker who lies about little more than half of the calls cannot hide behind the others."""
    empty = fit_baseline([_bursts(100e-6, 30e-6)])
    claims = (100e-6, 100e-6, 200e-6, 100e-6, 200e-6, 200e-6, 100e-6, 100e-6)
    beside = tuple(30e-6 + 200e-6 - claim_s for claim_s in claims)
    lies = [Burst(8 * 300e-6, claims, beside)] * 5
    assert find_contradiction(100e-6, estimate_call_time([lies], 100e-6, empty)) is not None


def test_a_quarter_of_outliers_does_not_move_the_line() -> None:
    bursts = [_burst(calls, 1e-3 + calls * 2e-3) for calls in range(1, 13)]
    wild = [*bursts[:9], *(_burst(burst.calls, 10 * burst.wall_s) for burst in bursts[9:])]
    line = fit_line(wild)
    assert line.per_call_s == pytest.approx(2e-3)
    assert line.fixed_s == pytest.approx(1e-3)
    assert line.at(5) == pytest.approx(11e-3)


def test_the_interval_of_a_slope_covers_the_true_slope() -> None:
    held = 0
    for seed in range(300):
        draw = np.random.default_rng(seed)
        bursts = [_burst(calls, calls * 1e-3 + 20e-6 * draw.standard_normal()) for calls in SIZES * 2]
        line = fit_line(bursts)
        held += abs(line.per_call_s - 1e-3) <= line.error_s
    assert held / 300 > 0.93


def test_the_overhead_is_known_within_a_third_of_the_slack() -> None:
    assert is_overhead_known(_bursts(1e-3, 0.5e-3), 1e-3)
    assert not is_overhead_known([_burst(1, 1e-3, 1e-3)] * 20, 1e-3)
    assert is_overhead_known([_burst(1, 1.0, 1.0)] * 2, 1.0, has_slope=False)
    draw = np.random.default_rng(1)
    noisy = [Burst(calls * 1e-3, (1e-6,) * calls, tuple(1e-3 * draw.exponential(1.0, calls))) for calls in SIZES]
    assert not is_overhead_known(noisy, 1e-3)
    assert is_overhead_known(noisy, 100e-3)


def test_bursts_of_one_size_have_no_line() -> None:
    with pytest.raises(ValueError, match="one size"):
        fit_line([_burst(2, 1.0), _burst(2, 1.1)])
