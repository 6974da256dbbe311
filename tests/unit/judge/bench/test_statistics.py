from __future__ import annotations

import math
import statistics
from itertools import count, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.bench.statistics import (
    MIN_RELATIVE_HALF_WIDTH,
    Effort,
    OutOfTime,
    Plateau,
    Precise,
    StoppingRule,
    between_processes,
    fewest_calls,
    geometric_mean,
    median_interval,
    relative_error,
    summarize,
)


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=50))
def test_agrees_with_numpy(samples: list[float]) -> None:
    summary = summarize(samples)
    lower, median, upper = np.percentile(samples, [25, 50, 75])
    assert summary.median == pytest.approx(median)
    assert summary.spread == pytest.approx((upper - lower) / 2 / median)
    assert summary.runs == len(samples)


def test_one_late_call_moves_neither_median_nor_spread() -> None:
    summary = summarize([1.0] * 20 + [1000.0])
    assert (summary.median, summary.spread) == (1.0, 0.0)


def test_no_samples_have_no_summary() -> None:
    for function in (summarize, median_interval):
        with pytest.raises(ValueError, match="no samples"):
            function([])
    with pytest.raises(ValueError, match="no values"):
        geometric_mean([])


def test_geometric_mean_weighs_ratios() -> None:
    assert geometric_mean([1.0, 100.0]) == pytest.approx(10.0)
    assert geometric_mean([2.0]) == pytest.approx(2.0)
    assert geometric_mean([0.0, 5.0]) == 0.0
    assert math.isclose(geometric_mean([1e-200, 1e-200]), 1e-200)


@pytest.mark.parametrize(
    ("size", "rank"),
    # From tables of the sign test at 5 %, two-sided.
    [(6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (25, 8), (50, 18), (100, 40)],
)
def test_the_interval_of_a_median_is_that_of_the_tables(size: int, rank: int) -> None:
    found = median_interval([float(value) for value in range(1, size + 1)])
    assert (found.low, found.high) == (rank, size + 1 - rank)


def test_too_few_samples_have_their_range_as_interval() -> None:
    found = median_interval([3.0, 1.0, 2.0])
    assert (found.low, found.value, found.high) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("draw", ["normal", "exponential", "standard_cauchy"])
def test_the_interval_covers_the_median_of_any_distribution(draw: str) -> None:
    generator = np.random.default_rng(5)
    samples = getattr(generator, draw)(size=(4000, 50))
    true = math.log(2) if draw == "exponential" else 0.0
    held = [found.low <= true <= found.high for found in map(median_interval, samples.tolist())]
    assert 0.94 < np.mean(held) < 0.985


def test_more_samples_are_more_precise() -> None:
    generator = np.random.default_rng(1)
    errors = [relative_error(generator.normal(100, 5, size).tolist()) for size in (20, 80, 320, 1280)]
    assert all(second < 0.8 * first for first, second in pairwise(errors))
    assert relative_error([0.0, 0.0]) == math.inf


def _scores(generator: np.random.Generator, middle: float, variation: float, count: int) -> list[list[float]]:
    return (middle * (1 + variation * generator.standard_normal((count, 3)))).tolist()


@pytest.mark.parametrize("variation", [0.0005, 0.002, 0.01, 0.05])
def test_equal_kernels_are_nearly_never_told_apart(variation: float) -> None:
    generator = np.random.default_rng(11)
    found = [between_processes(values) for values in _scores(generator, 1e-3, variation, 8000)]
    apart = [a.high < b.low or b.high < a.low for a, b in zip(found[::2], found[1::2], strict=True)]
    assert np.mean(apart) < 0.006


@pytest.mark.parametrize("variation", [0.002, 0.01, 0.05])
def test_the_interval_of_a_score_covers_the_true_value(variation: float) -> None:
    generator = np.random.default_rng(12)
    found = [between_processes(values) for values in _scores(generator, 1e-3, variation, 4000)]
    assert 0.95 < np.mean([each.low <= 1e-3 <= each.high for each in found]) <= 1.0


def test_two_per_cent_are_told_apart_when_processes_repeat_within_0_3_per_cent() -> None:
    generator = np.random.default_rng(13)
    for _ in range(500):
        first, second = (middle * (1 + generator.uniform(-0.0015, 0.0015, 3)) for middle in (1e-3, 1.02e-3))
        assert between_processes(first.tolist()).high < between_processes(second.tolist()).low


def test_the_interval_is_at_least_one_process_s_own() -> None:
    same = [1.0, 1.0, 1.0]
    assert between_processes(same) == between_processes(same, MIN_RELATIVE_HALF_WIDTH / 2)
    assert between_processes(same).high == pytest.approx(1 + MIN_RELATIVE_HALF_WIDTH)
    wide = between_processes(same, 0.2)
    assert (wide.low, wide.high) == (pytest.approx(0.8), pytest.approx(1.2))


def test_one_process_that_lies_far_off_widens_the_interval_but_is_not_the_score() -> None:
    found = between_processes([1.0, 1.01, 3.0])
    assert found.value == 1.01
    assert found.high - found.value == pytest.approx(4.3027 * 0.6698 * statistics.stdev([1.0, 1.01, 3.0]), rel=1e-3)
    assert found.low == 0.0


def test_two_processes_are_not_enough() -> None:
    with pytest.raises(ValueError, match="2 processes"):
        between_processes([1.0, 2.0])


STEADY = [1.0, 1.001] * 100
SHAKY = [1.0, 1.5] * 100


def test_precise_where_the_median_is_known_to_the_target() -> None:
    assert Precise(0.002).is_met(STEADY[:50], 0.0)
    assert not Precise(0.002).is_met(SHAKY[:50], 0.0)


def test_out_of_time_is_met_at_the_budget() -> None:
    assert not OutOfTime(2.0).is_met(SHAKY, 1.99)
    assert OutOfTime(2.0).is_met([], 2.0)


def test_a_plateau_is_met_once_the_error_no_longer_falls() -> None:
    plateau = Plateau(window=4)
    assert [plateau.is_met(SHAKY[:size], 0.0) for size in (50, 60, 70, 80)] == [False, False, False, True]


def test_no_plateau_while_noise_still_averages_out() -> None:
    plateau = Plateau()
    samples = np.random.default_rng(3).normal(1.0, 0.05, 1 << 12).tolist()
    assert not any(plateau.is_met(samples[: 64 << step], 0.0) for step in range(7))


def test_no_stop_before_the_least_number_of_samples() -> None:
    assert StoppingRule().reason_to_stop(STEADY[:49], 1e9) == ""
    assert StoppingRule().reason_to_stop(STEADY[:50], 1e9) == "precise"


@pytest.mark.parametrize(("samples", "reason"), [(STEADY, "precise"), (SHAKY, "plateau")])
def test_stops_at_the_first_criterion_met(samples: list[float], reason: str) -> None:
    rule = StoppingRule()
    reasons = (rule.reason_to_stop(samples[: 50 + 8 * burst], 0.01 * burst) for burst in count())
    assert next(filter(None, reasons)) == reason


def test_stops_when_the_time_is_up() -> None:
    rule = StoppingRule(budget_s=1.0)
    assert rule.reason_to_stop(SHAKY[:50], 0.9) == ""
    assert rule.reason_to_stop(SHAKY[:58], 1.0) == "out of time"


def test_unknown_overhead_goes_on_until_the_time_is_up() -> None:
    rule = StoppingRule(budget_s=1.0)
    assert rule.reason_to_stop(STEADY[:50], 0.9, overhead_known=False) == ""
    assert rule.reason_to_stop(STEADY[:50], 0.9, overhead_known=True) == "precise"
    assert rule.reason_to_stop(STEADY[:50], 1.0, overhead_known=False) == "out of time"


@pytest.mark.parametrize(("call_s", "least"), [(1e-3, 50), (0.04, 50), (0.3, 7), (1.0, 2), (3.9, 1), (math.inf, 50)])
def test_long_calls_are_made_less_often(call_s: float, least: int) -> None:
    assert fewest_calls(call_s) == least


def test_a_process_stops_after_as_few_calls_as_it_may() -> None:
    assert StoppingRule().reason_to_stop([1.0] * 6, 1.0, least=7) == ""
    assert StoppingRule().reason_to_stop([1.0] * 7, 1.0, least=7) == "precise"
    assert StoppingRule().reason_to_stop([1.0], 1.0, least=1) == "precise"


def test_less_precision_takes_fewer_calls() -> None:
    usual, screening = Effort.for_precision(None), Effort.for_precision(0.02)
    assert Effort.for_precision(0.001) == usual == Effort()
    assert (screening.target, screening.calls) == (0.01, 20)
    assert fewest_calls(1e-3, screening) == 20 < fewest_calls(1e-3)
    assert fewest_calls(0.25, screening) == 2 < fewest_calls(0.25) == 8
    between = Effort.for_precision(0.008)
    assert (between.target, between.calls) == (0.004, usual.calls)
    noisy = [1.0 + 0.02 * (k % 5) / 5 for k in range(30)]
    assert StoppingRule(10.0, screening).reason_to_stop(noisy, 0.1, least=20) == "precise"
    assert StoppingRule(10.0, usual).reason_to_stop(noisy, 0.1, least=20) == ""
