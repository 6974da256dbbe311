import math

import pytest

from judge.bench.plausibility import why_call_not_believed, why_count_not_believed, why_time_not_believed


def test_honest_times_are_believed() -> None:
    assert why_call_not_believed(1.1e-3, 1.2e-3) == ""
    assert why_time_not_believed(1.1e-3, 1e-3, measured=True) == ""
    assert why_time_not_believed(0.96e-3, 1e-3, measured=True) == "", "clocks differ from day to day"


@pytest.mark.parametrize("claim", [0.0, -1.0, math.nan, math.inf, -math.inf, 1e-7])
def test_no_time_at_all_is_not(claim: float) -> None:
    assert "less than an empty one" in why_call_not_believed(claim, 1.0)


def test_a_call_longer_than_it_was_waited_for_is_not() -> None:
    assert "it was over after" in why_call_not_believed(1.1e-3, 1e-3)


def test_a_time_in_which_the_device_cannot_do_it_is_not() -> None:
    assert "peaks that were measured" in why_time_not_believed(0.94e-3, 1e-3, measured=True)
    assert "data rate" in why_time_not_believed(0.94e-3, 1e-3, measured=False)


def test_a_count_too_small_for_the_work_is_not_believed() -> None:
    assert "on the host?" in why_count_not_believed(0, 12e6, 1e6)
    assert "on the host?" in why_count_not_believed(100, 0, 1e9)
    assert why_count_not_believed(180_076, 12e6, 1e6) == ""


def test_copies_need_no_kernel() -> None:
    assert why_count_not_believed(0, 12e6, None) == ""
