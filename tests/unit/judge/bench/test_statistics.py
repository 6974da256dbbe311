import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.bench.statistics import geometric_mean, summarize


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
    with pytest.raises(ValueError, match="no samples"):
        summarize([])
    with pytest.raises(ValueError, match="no values"):
        geometric_mean([])


def test_geometric_mean_weighs_ratios() -> None:
    assert geometric_mean([1.0, 100.0]) == pytest.approx(10.0)
    assert geometric_mean([2.0]) == pytest.approx(2.0)
    assert geometric_mean([0.0, 5.0]) == 0.0
    assert math.isclose(geometric_mean([1e-200, 1e-200]), 1e-200)
