import math

import pytest

from judge.bench.plausibility import why_count_not_believed, why_not_believed
from judge.judgement import DeviceInfo

GPU = DeviceInfo("gpu", "cuda", "GPU", "9.0", {"peak_bytes_per_s": 1e12, "l2_bytes": 50e6})


def test_an_honest_time_is_believed() -> None:
    assert why_not_believed(1.1e-3, 1.3e-3, 1e9, GPU) == ""


@pytest.mark.parametrize("claim", [0.0, -1.0, math.nan, math.inf, -math.inf, 1e-7])
def test_no_time_at_all_is_not(claim: float) -> None:
    assert "less than an empty one" in why_not_believed(claim, 1.0, 1.0, GPU)


def test_a_time_longer_than_the_call_is_not() -> None:
    assert "it was over after" in why_not_believed(2e-3, 1e-3, 1.0, GPU)


def test_a_time_in_which_the_data_cannot_be_moved_is_not() -> None:
    assert "needs" in why_not_believed(0.9e-3, 2e-3, 1e9, GPU)
    assert why_not_believed(0.9e-3, 2e-3, 0.9e9, GPU) == "", "what fits the L2 need not have been written out"


def test_a_device_of_unknown_speed_is_given_the_benefit_of_the_doubt() -> None:
    assert why_not_believed(1e-6, 1e-3, 1e9, DeviceInfo("gpu", "cuda", "GPU", "9.0")) == ""


def test_a_count_too_small_for_the_work_is_not_believed() -> None:
    assert "on the host?" in why_count_not_believed(0, 12e6, 1e6)
    assert "on the host?" in why_count_not_believed(100, 0, 1e9)
    assert why_count_not_believed(180_076, 12e6, 1e6) == ""


def test_copies_need_no_kernel() -> None:
    assert why_count_not_believed(0, 12e6, None) == ""
