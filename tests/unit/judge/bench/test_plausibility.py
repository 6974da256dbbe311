from __future__ import annotations

import dataclasses

import pytest

from judge.bench.plausibility import Roofline, why_count_implausible, why_time_implausible
from judge.gpu.calibration import Calibration
from judge.judgement import DeviceInfo
from tests.host_device.judging import twice_pack

PACK = twice_pack()
#: 4 MB are moved and half a million operations made.
CASE = PACK.benchmarks[0]
RATES = {"fp32": 6e13, "tf32": 4e14, "fp16": 9e14, "bf16": 8e14, "int8": 2e15, "fp64": 3e13}
PEAKS = Calibration("hash", "GPU", "580", "2026-01-01", read_bytes_per_s=4.2e12, copy_bytes_per_s=4e12, rates=RATES)


def device(**details: float) -> DeviceInfo:
    return DeviceInfo("gpu", "cuda", "GPU", "9.0", details)


def computing(arithmetic: str, peaks: Calibration | None = PEAKS) -> Roofline:
    """Of a task that moves no more than the L2 holds."""
    return Roofline(
        dataclasses.replace(PACK, bench=dataclasses.replace(PACK.bench, arithmetic=arithmetic)),
        device(l2_bytes=60e6),
        peaks,
    )


def test_bytes_are_bound_by_the_measured_bandwidth() -> None:
    assert Roofline(PACK, device(), PEAKS).roofline_s(CASE) == pytest.approx(4e6 / 4.2e12)
    assert Roofline(PACK, device(), PEAKS).floor_s(CASE) == pytest.approx(4e6 / 4.2e12)


def test_bytes_that_fit_the_l2_do_not_count() -> None:
    assert Roofline(PACK, device(l2_bytes=1e6), PEAKS).floor_s(CASE) == pytest.approx(3e6 / 4.2e12)
    slow = dataclasses.replace(PEAKS, rates={**RATES, "fp16": 1e9, "bf16": 1e9, "tf32": 1e9, "fp32": 1e9})
    assert Roofline(PACK, device(l2_bytes=1e9), slow).floor_s(CASE) == pytest.approx(5e5 / 1e9)


@pytest.mark.parametrize(("arithmetic", "rate"), [("fp32", 6e13), ("fp16", 9e14), ("int8", 2e15)])
def test_the_roofline_uses_the_packs_arithmetic(arithmetic: str, rate: float) -> None:
    slow = dataclasses.replace(PEAKS, rates={name: value / 1e6 for name, value in RATES.items()})
    assert computing(arithmetic, slow).roofline_s(CASE) == pytest.approx(5e5 / (rate / 1e6))


@pytest.mark.parametrize(("arithmetic", "rate"), [("fp32", 9e14), ("tf32", 9e14), ("fp16", 9e14), ("fp64", 2e15)])
def test_the_floor_uses_the_fastest_arithmetic_that_could_stand_in(arithmetic: str, rate: float) -> None:
    """A product in single precision can be put together from half-precision ones."""
    slow = dataclasses.replace(PEAKS, rates={name: value / 1e6 for name, value in RATES.items()})
    assert computing(arithmetic, slow).floor_s(CASE) == pytest.approx(5e5 / (rate / 1e6))


def test_an_incomplete_rate_bounds_nothing() -> None:
    slow = dataclasses.replace(PEAKS, rates=dict.fromkeys(RATES, 1.0), incomplete=("bf16",))
    assert computing("fp16", slow).floor_s(CASE) == 0.0
    assert computing("fp16", slow).roofline_s(CASE) == pytest.approx(5e5)
    assert computing("bf16", slow).roofline_s(CASE) is None


def test_an_uncalibrated_device_is_bound_by_its_data_rate() -> None:
    room = Roofline(PACK, device(peak_bytes_per_s=1e12, l2_bytes=1e6), None)
    assert room.roofline_s(CASE) is None
    assert room.floor_s(CASE) == pytest.approx(3e6 / 1e12)


def test_an_unknown_device_has_no_floor() -> None:
    assert Roofline(PACK, device(), None).floor_s(CASE) == 0.0


def test_honest_times_are_plausible() -> None:
    assert why_time_implausible(1.1e-3, 1e-3, measured=True) == ""
    assert why_time_implausible(0.96e-3, 1e-3, measured=True) == "", "clocks differ from day to day"


def test_a_time_below_the_floor_is_implausible() -> None:
    assert "peaks that were measured" in why_time_implausible(0.94e-3, 1e-3, measured=True)
    assert "data rate" in why_time_implausible(0.94e-3, 1e-3, measured=False)


def test_a_count_too_small_for_the_task_is_implausible() -> None:
    assert "nothing that was counted" in why_count_implausible(0, 12e6, 1e6)
    assert "nothing that was counted" in why_count_implausible(100, 0, 1e9)
    assert "nothing that was counted" in why_count_implausible(0, 12e6, 1e6, copied_bytes=1e6)
    assert "nothing that was counted" in why_count_implausible(0, 12e6, 1e6, host_s=2e-6)
    assert why_count_implausible(0, 12e6, 1e6, copied_bytes=12e6) == ""
    assert why_count_implausible(0, 12e6, 1e6, host_s=1e-3) == ""
    assert why_count_implausible(180_076, 12e6, 1e6) == ""


def test_copies_need_no_kernel() -> None:
    assert why_count_implausible(0, 12e6, None) == ""
