"""Graphs that are cloned, changed and taken apart; the program says the line that went wrong."""

from __future__ import annotations

import pytest

from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import Build

pytestmark = pytest.mark.nvcc


@pytest.mark.parametrize(
    "part", ["clones", "edges", "kinds", "memory_of_its_own", "memory_that_stays", "memory_by_capture"]
)
def test_a_part_of_the_api(device: Device, build: Build, part: str) -> None:
    program = build("graphs")
    program.cudaGetLastError()

    assert getattr(program, part)() == 0, f"graphs.cu, {part}: the line that it returned"
    if part == "kinds":
        assert "nodes of this type" in (device.runtime.take_report().unsupported or "")
