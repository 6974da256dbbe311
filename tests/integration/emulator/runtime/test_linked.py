"""Programs that nvcc linked from several objects (-rdc=true), and dynamic parallelism, which is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from emulator import CudaError
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


def test_kernels_that_launch_kernels_are_refused_by_name_and_line(device: Device, build: Build) -> None:
    program = build("linked", "-rdc=true", "-DNESTED", str(PROGRAMS / "linked_other.cu"), "-lcudadevrt")
    at, _ = device.array(64, np.int32)
    program.run_nested(at)
    with pytest.raises(CudaError):
        device.runtime.synchronize()
    assert "dynamic parallelism" in (told := device.runtime.take_report().unsupported or "")
    assert "linked.cu:" in told
