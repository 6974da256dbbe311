"""The bound on simulated clocks: honest ones over thousands of seeds, and liars of several kinds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from judge.bench.clock_bound import (
    AROUND_SHARE,
    Burst,
    EmptyCalls,
    doubt_claim,
    fit_line,
    is_settled,
    measure_empty,
    see,
    slack,
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
    """A clock with the noise of a busy host: each call late by a little, each burst by more, now and then by far more;
    each process a little different from the others."""

    def __init__(self, seed: int, *, noise: float = 1.0) -> None:
        self._draw = np.random.default_rng(seed)
        self._noise = noise
        self._empty_place = 0.0

    def process(
        self, true_s: float, share: float = 1.0, delay: Callable[[int], float] = lambda _: 0.0, *,
        around_s: float = 0.0, moved: float = 0.0,
    ) -> list[Burst]:  # fmt: skip
        """The bursts of one process whose solve takes ``true_s`` and claims ``share`` of it.
        ``around_s``: by how much what surrounds a call differs from what surrounds an empty one; ``moved``: which share
        of the work is done there."""
        draw, noise = self._draw, self._noise
        around = AROUND_S * (1 + 0.002 * noise * draw.standard_normal()) + around_s
        once = ONCE_S * (1 + 0.1 * noise * draw.standard_normal())
        place = PLACE_S * noise * draw.standard_normal()
        bursts = []
        for calls in SIZES:
            times = true_s * (1 + 0.005 * noise * draw.standard_normal(calls)) + noise * draw.exponential(0.2e-6, calls)
            trips = TRIP_S + noise * draw.exponential(2e-6, calls)
            jitter = noise * (draw.exponential(1e-6, calls).sum() + draw.exponential(20e-6))
            late = noise * draw.exponential(2e-3) if draw.random() < 0.03 else 0.0
            wall_s = once + calls * around + times.sum() + jitter + late + delay(calls)
            # What the machine does besides makes all answers late for a while.
            busy_s = noise * draw.exponential(60e-6) if draw.random() < 0.3 else 0.0
            beside_s = tuple(((1 - moved - share) * times + trips + place + busy_s).tolist())
            empty_s = TRIP_S + noise * draw.exponential(2e-6, 3) + self._empty_place + busy_s
            empty = EmptyCalls((EMPTY_S,) * 3, tuple(empty_s.tolist()), (False,) * 3)
            bursts.append(Burst(wall_s + (trips + busy_s).sum(), tuple((share * times).tolist()), beside_s, empty))
        return bursts

    def doubts(self, true_s: float, share: float = 1.0, delay: Callable[[int], float] = lambda _: 0.0,
               **how: float) -> bool:  # fmt: skip
        """As in a judgement: three processes against an empty solve, and twice more at a doubt."""
        for _ in range(3):
            empty = measure_empty([self.process(EMPTY_S) for _ in range(3)])
            self._empty_place = PLACE_S * self._noise * self._draw.standard_normal()
            timed = [self.process(EMPTY_S + true_s, share, delay, **how) for _ in range(3)]
            medians = [np.median([claim_s for burst in bursts for claim_s in burst.claims_s]) for bursts in timed]
            claim_s = float(np.median(medians)) - EMPTY_S
            if doubt_claim(claim_s, see(timed, claim_s, empty)) is None:
                return False
        return True


@pytest.mark.parametrize("true_s", [10e-6, 50e-6, 200e-6, 1e-3])
def test_honest_kernels_are_next_to_never_doubted(true_s: float) -> None:
    assert sum(Machine(seed).doubts(true_s) for seed in range(1000)) <= 2


@pytest.mark.parametrize("true_s", [50e-6, 100e-6, 200e-6, 1e-3])
def test_who_claims_half_is_found_out(true_s: float) -> None:
    assert all(Machine(seed).doubts(true_s, 0.5) for seed in range(100))


@pytest.mark.parametrize("true_s", [200e-6, 400e-6, 1e-3])
def test_who_claims_somewhat_less_is_found_out(true_s: float) -> None:
    assert sum(Machine(seed).doubts(true_s, 0.85) for seed in range(100)) >= 95


@pytest.mark.parametrize("around_s", [-60e-6, 60e-6])
def test_what_surrounds_a_call_may_differ_by_a_share_of_itself(around_s: float) -> None:
    assert sum(Machine(seed).doubts(200e-6, around_s=around_s) for seed in range(300)) <= 1


def test_work_done_around_the_call_is_found_out() -> None:
    """Who takes the process over can work before he is asked for a call, or after he has answered."""
    assert all(Machine(seed).doubts(400e-6, 0.5, moved=0.5) for seed in range(100))


def test_short_bursts_made_longer_hide_nothing() -> None:
    """Who knows how long a burst is can make all of them take equally long: the slope is zero, but no burst is
    shorter than its work."""
    machine = Machine(3)
    equal = machine.process(400e-6, 0.5, lambda calls: (16 - calls) * (AROUND_S + TRIP_S + 400e-6))
    assert abs(fit_line(equal).each_s) < 20e-6
    hidden = [Machine(seed).doubts(400e-6, 0.5, lambda calls: (16 - calls) * 800e-6, moved=0.5) for seed in range(100)]
    assert all(hidden)


def _bursts(each_s: float, beside_s: float, once_s: float = 0.0) -> list[Burst]:
    return [_burst(calls, once_s + calls * each_s, beside_s) for calls in SIZES]


def _burst(calls: int, wall_s: float, beside_s: float = 30e-6) -> Burst:
    """Beside empty calls with 30 µs around them."""
    return Burst(wall_s, (EMPTY_S,) * calls, (beside_s,) * calls, _empty_calls(30e-6))


def _empty_calls(beside_s: float, claim_s: float = EMPTY_S, *, preempted: bool = False) -> EmptyCalls:
    return EmptyCalls((claim_s,) * 3, (beside_s,) * 3, (preempted,) * 3)


def test_bursts_of_one_size_are_judged_by_how_long_they_took() -> None:
    empty = measure_empty([_bursts(0.5e-3, 0.1e-3, 0.5e-3)])
    lone = [[_burst(1, 2e-3)] * 5]
    assert doubt_claim(0.8e-3, see(lone, 0.8e-3, empty)) is None
    doubt = doubt_claim(0.5e-3, see(lone, 0.5e-3, empty))
    assert doubt is not None
    assert "500.0 µs" in str(doubt)
    assert "1000.0 µs" in str(doubt)


def test_the_slack_is_five_per_cent_or_five_microseconds() -> None:
    assert slack(10e-6) == pytest.approx(5e-6)
    assert slack(1e-3) == pytest.approx(50e-6)
    empty = measure_empty([_bursts(100e-6, 30e-6)])
    for claim_s, doubted in ((0.951e-3, False), (0.949e-3, True)):
        lies = [_bursts(1100e-6, 30e-6 + 1e-3 - claim_s)]
        assert (doubt_claim(claim_s, see(lies, claim_s, empty)) is not None) is doubted
        # Work that was done outside of the call has more room.
        moved_s = claim_s - AROUND_SHARE * 100e-6
        assert (doubt_claim(moved_s, see([_bursts(1100e-6, 30e-6)], moved_s, empty)) is not None) is doubted


def test_the_middle_process_counts() -> None:
    empty = measure_empty([_bursts(100e-6, 30e-6)])
    honest, late = _bursts(300e-6, 30e-6), _bursts(300e-6, 130e-6)
    assert doubt_claim(200e-6, see([honest, honest, late], 200e-6, empty)) is None
    assert doubt_claim(200e-6, see([honest, late, late], 200e-6, empty)) is not None


def test_what_makes_all_answers_late_is_not_held_against_a_submission() -> None:
    """For half of the bursts the machine does something else, and of each size there is a slow one."""
    empty = measure_empty([_bursts(100e-6, 30e-6)])
    busy = [
        Burst(
            burst.wall_s + slow_s,
            burst.claims_s,
            (30e-6 + late_s,) * burst.calls,
            _empty_calls(30e-6 + late_s),
        )
        for burst, slow_s, late_s in zip(_bursts(300e-6, 30e-6), [0.0, 2e-3] * 5, [0.0, 50e-6] * 5, strict=True)
    ]
    assert doubt_claim(200e-6, see([busy], 200e-6, empty)) is None


def test_who_keeps_the_gpu_while_it_is_another_s_turn_gains_nothing() -> None:
    """The empty calls read more than they do alone, and everything around them takes longer."""
    empty = measure_empty([_bursts(100e-6, 30e-6)])
    disturbed = _empty_calls(230e-6, EMPTY_S + 400e-6)
    lies = [dataclasses.replace(burst, empty=disturbed) for burst in _bursts(300e-6, 130e-6)]
    assert doubt_claim(100e-6, see([lies], 100e-6, empty)) is not None


def test_who_keeps_the_processor_while_it_is_another_s_turn_gains_nothing() -> None:
    """The empty calls take longer, but lose their processor meanwhile: they count as they do alone."""
    empty = measure_empty([_bursts(100e-6, 30e-6)])
    assert empty.beside_s == pytest.approx(30e-6)
    for preempted, seen_s in ((False, 100e-6), (True, 200e-6)):
        late = _empty_calls(130e-6, preempted=preempted)
        lies = [dataclasses.replace(burst, empty=late) for burst in _bursts(200e-6, 130e-6)]
        assert see([lies], 100e-6, empty).by_call_s == pytest.approx(seen_s)
        hasty = _empty_calls(20e-6, preempted=preempted)
        honest = [dataclasses.replace(burst, empty=hasty) for burst in _bursts(200e-6, 20e-6)]
        assert see([honest], 100e-6, empty).by_call_s == pytest.approx(100e-6)


def test_it_is_the_calls_that_decide_the_median_that_are_asked() -> None:
    """Who lies about little more than half of his calls cannot hide behind the others."""
    empty = measure_empty([_bursts(100e-6, 30e-6)])
    claims = (100e-6, 100e-6, 200e-6, 100e-6, 200e-6, 200e-6, 100e-6, 100e-6)
    beside = tuple(30e-6 + 200e-6 - claim_s for claim_s in claims)
    lies = [Burst(8 * 300e-6, claims, beside)] * 5
    assert doubt_claim(100e-6, see([lies], 100e-6, empty)) is not None


def test_a_line_is_unmoved_by_a_quarter_of_wild_bursts() -> None:
    bursts = [_burst(calls, 1e-3 + calls * 2e-3) for calls in range(1, 13)]
    wild = [*bursts[:9], *(_burst(burst.calls, 10 * burst.wall_s) for burst in bursts[9:])]
    line = fit_line(wild)
    assert line.each_s == pytest.approx(2e-3)
    assert line.once_s == pytest.approx(1e-3)
    assert line.at(5) == pytest.approx(11e-3)


def test_the_error_of_a_slope_holds_the_true_one() -> None:
    held = 0
    for seed in range(300):
        draw = np.random.default_rng(seed)
        bursts = [_burst(calls, calls * 1e-3 + 20e-6 * draw.standard_normal()) for calls in SIZES * 2]
        line = fit_line(bursts)
        held += abs(line.each_s - 1e-3) <= line.error_s
    assert held / 300 > 0.93


def test_settled_once_a_call_is_known_to_a_third_of_the_slack() -> None:
    assert is_settled(_bursts(1e-3, 0.5e-3), 1e-3)
    assert not is_settled([_burst(1, 1e-3, 1e-3)] * 20, 1e-3)
    draw = np.random.default_rng(1)
    noisy = [Burst(calls * 1e-3, (1e-6,) * calls, tuple(1e-3 * draw.exponential(1.0, calls))) for calls in SIZES]
    assert not is_settled(noisy, 1e-3)
    assert is_settled(noisy, 100e-3)


def test_bursts_of_one_size_have_no_line() -> None:
    with pytest.raises(ValueError, match="one size"):
        fit_line([_burst(2, 1.0), _burst(2, 1.1)])
