from __future__ import annotations

import dataclasses

import pytest

from judge.bench.roofline import Roofline
from judge.devices.calibration import Calibration
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
    return Roofline(dataclasses.replace(PACK, arithmetic=arithmetic), device(l2_bytes=60e6), peaks)


def test_what_moves_data_is_bound_by_the_measured_bandwidth() -> None:
    assert Roofline(PACK, device(), PEAKS).least_s(CASE) == pytest.approx(4e6 / 4.2e12)
    assert Roofline(PACK, device(), PEAKS).floor_s(CASE) == pytest.approx(4e6 / 4.2e12)


def test_what_fits_the_l2_need_not_have_been_moved() -> None:
    assert Roofline(PACK, device(l2_bytes=1e6), PEAKS).floor_s(CASE) == pytest.approx(3e6 / 4.2e12)
    slow = dataclasses.replace(PEAKS, rates={**RATES, "fp16": 1e9, "bf16": 1e9, "tf32": 1e9, "fp32": 1e9})
    assert Roofline(PACK, device(l2_bytes=1e9), slow).floor_s(CASE) == pytest.approx(5e5 / 1e9)


@pytest.mark.parametrize(("arithmetic", "rate"), [("fp32", 6e13), ("fp16", 9e14), ("int8", 2e15)])
def test_the_roofline_is_drawn_with_the_packs_arithmetic(arithmetic: str, rate: float) -> None:
    slow = dataclasses.replace(PEAKS, rates={name: value / 1e6 for name, value in RATES.items()})
    assert computing(arithmetic, slow).least_s(CASE) == pytest.approx(5e5 / (rate / 1e6))


@pytest.mark.parametrize(("arithmetic", "rate"), [("fp32", 9e14), ("tf32", 9e14), ("fp16", 9e14), ("fp64", 2e15)])
def test_the_floor_with_the_fastest_that_could_stand_in(arithmetic: str, rate: float) -> None:
    """A product in single precision can be put together from half-precision ones."""
    slow = dataclasses.replace(PEAKS, rates={name: value / 1e6 for name, value in RATES.items()})
    assert computing(arithmetic, slow).floor_s(CASE) == pytest.approx(5e5 / (rate / 1e6))


def test_a_rate_that_is_no_bound_bounds_nothing() -> None:
    slow = dataclasses.replace(PEAKS, rates=dict.fromkeys(RATES, 1.0), incomplete=("bf16",))
    assert computing("fp16", slow).floor_s(CASE) == 0.0
    assert computing("fp16", slow).least_s(CASE) == pytest.approx(5e5)
    assert computing("bf16", slow).least_s(CASE) is None


def test_a_device_that_was_not_measured_is_bound_by_its_data_rate() -> None:
    room = Roofline(PACK, device(peak_bytes_per_s=1e12, l2_bytes=1e6), None)
    assert room.least_s(CASE) is None
    assert room.floor_s(CASE) == pytest.approx(3e6 / 1e12)


def test_a_device_of_which_nothing_is_known_is_given_the_benefit_of_the_doubt() -> None:
    assert Roofline(PACK, device(), None).floor_s(CASE) == 0.0
