"""Limits: memory, instructions, time; and launches that would never end."""

from __future__ import annotations

import time

import numpy as np
import pytest

from emulator import CudaError
from tests.unit.emulator.runtime.conftest import Build, Device


def test_memory(device: Device) -> None:
    device.limit(memory_bytes=1 << 20)
    pointer = device.runtime.malloc(1 << 19)

    with pytest.raises(CudaError) as caught:
        device.runtime.malloc((1 << 19) + 1)
    assert (caught.value.code, caught.value.name) == (2, "cudaErrorMemoryAllocation")
    assert device.runtime.take_report().limit == "memory"
    device.runtime.free(pointer)
    device.runtime.free(device.runtime.malloc(1 << 20))
    assert device.runtime.take_report().limit is None


def test_more_memory_than_the_machine_has_is_no_limit_of_ours(device: Device) -> None:
    with pytest.raises(CudaError):
        device.runtime.malloc(1 << 46)
    assert device.runtime.take_report().limit is None


@pytest.mark.nvcc
@pytest.mark.parametrize("kernel", ["run_polls_forever", "run_computes_forever"])
def test_wall_time(device: Device, build: Build, kernel: str) -> None:
    device.limit(wall_s=0.3)
    out, _ = device.array(1)
    started = time.monotonic()

    assert getattr(build("faults"), kernel)(out) == 702

    assert time.monotonic() - started < 10
    assert device.runtime.take_report().limit == "wall"
    with pytest.raises(CudaError, match=r"stopped after 0\.3 s"):
        device.runtime.synchronize()


@pytest.mark.nvcc
def test_instructions(device: Device, build: Build) -> None:
    device.limit(warp_instructions=1_000_000)
    out, _ = device.array(1)

    assert build("faults").run_computes_forever(out) == 702

    report = device.runtime.take_report()
    assert report.limit == "instructions"
    assert 1_000_000 < report.warp_instructions < 50_000_000


@pytest.mark.nvcc
def test_a_launch_within_its_limits_is_let_be(device: Device, build: Build) -> None:
    device.limit(warp_instructions=1_000_000, wall_s=30)
    a, _ = device.array(1000)
    out, result = device.array(np.ones(1000))

    assert build("kernels").run_add(a, a, out, 1000) == 0

    assert not result.any()
    assert device.runtime.take_report().limit is None


@pytest.mark.nvcc
def test_a_barrier_that_nobody_else_reaches(device: Device, build: Build) -> None:
    out, _ = device.array(64, np.int32)

    assert build("faults").run_half_a_barrier(out) == 702

    with pytest.raises(CudaError, match="waits for ever at a barrier"):
        device.runtime.synchronize()
