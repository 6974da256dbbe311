"""Programs that nvcc linked from several objects (-rdc=true)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import PROGRAMS, Build

pytestmark = pytest.mark.nvcc


def test_two_objects_are_one_program(device: Device, build: Build) -> None:
    program = build("linked", "-rdc=true", str(PROGRAMS / "linked_other.cu"))
    at, out = device.array(64, np.int32)
    program.run_sums(at)
    device.runtime.synchronize()
    assert list(out) == [7 * t + (t + 3) + 5 for t in range(64)]

    assert program.set_base(100) == 0
    program.run_sums(at)
    device.runtime.synchronize()
    assert list(out) == [7 * t + (t + 3) + 100 for t in range(64)]


def test_kernels_that_launch_kernels(device: Device, build: Build) -> None:
    program = build("linked", "-rdc=true", "-DNESTED", str(PROGRAMS / "linked_other.cu"), "-lcudadevrt")
    at, out = device.array(64, np.int32)
    program.run_nested(at)
    device.runtime.synchronize()
    assert device.runtime.take_report().unsupported is None
    assert list(out) == [7 * t + (t + 3) + 5 for t in range(64)]
