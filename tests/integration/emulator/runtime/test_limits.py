"""Limits of instructions and time, and launches that would never end."""

from __future__ import annotations

import numpy as np
import pytest

from emulator import CudaError
from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import Build

pytestmark = pytest.mark.nvcc


@pytest.mark.parametrize("kernel", ["run_polls_forever", "run_computes_forever"])
def test_wall_time(device: Device, build: Build, kernel: str) -> None:
    device.limit(wall_s=0.3)
    out, _ = device.array(1)
    launch = getattr(build("faults"), kernel)

    assert launch(out) == 702

    assert device.runtime.take_report().limit == "wall"
    with pytest.raises(CudaError, match=r"stopped after 0\.3 s"):
        device.runtime.synchronize()


def test_instructions(device: Device, build: Build) -> None:
    device.limit(warp_instructions=1_000_000)
    out, _ = device.array(1)

    assert build("faults").run_computes_forever(out) == 702

    report = device.runtime.take_report()
    assert report.limit == "instructions"
    assert 1_000_000 < report.warp_instructions < 50_000_000


def test_a_launch_within_its_limits_is_let_be(device: Device, build: Build) -> None:
    device.limit(warp_instructions=1_000_000, wall_s=30)
    a, _ = device.array(1000)
    out, result = device.array(np.ones(1000))

    assert build("kernels").run_add(a, a, out, 1000) == 0

    assert not result.any()
    assert device.runtime.take_report().limit is None


def test_a_barrier_that_nobody_else_reaches(device: Device, build: Build) -> None:
    out, _ = device.array(64, np.int32)

    assert build("faults").run_half_a_barrier(out) == 702

    with pytest.raises(CudaError, match="waits for ever at a barrier"):
        device.runtime.synchronize()
