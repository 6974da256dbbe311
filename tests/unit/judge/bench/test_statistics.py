import math
import statistics
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.bench.statistics import (
    LEAST_RELATIVE,
    between_processes,
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


def test_nothing_has_no_summary() -> None:
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


def test_too_few_samples_tell_of_nothing_but_themselves() -> None:
    found = median_interval([3.0, 1.0, 2.0])
    assert (found.low, found.value, found.high) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("draw", ["normal", "exponential", "standard_cauchy"])
def test_the_interval_holds_the_median_of_any_distribution(draw: str) -> None:
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
def test_the_interval_of_a_score_holds_the_true_value(variation: float) -> None:
    generator = np.random.default_rng(12)
    found = [between_processes(values) for values in _scores(generator, 1e-3, variation, 4000)]
    assert 0.95 < np.mean([each.low <= 1e-3 <= each.high for each in found]) <= 1.0


def test_two_per_cent_are_told_apart_when_processes_repeat_within_0_3_per_cent() -> None:
    generator = np.random.default_rng(13)
    for _ in range(500):
        first, second = (middle * (1 + generator.uniform(-0.0015, 0.0015, 3)) for middle in (1e-3, 1.02e-3))
        assert between_processes(first.tolist()).high < between_processes(second.tolist()).low


def test_the_interval_is_as_wide_as_one_process_is_uncertain() -> None:
    same = [1.0, 1.0, 1.0]
    assert between_processes(same) == between_processes(same, LEAST_RELATIVE / 2)
    assert between_processes(same).high == pytest.approx(1 + LEAST_RELATIVE)
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
