"""Stores that race with other blocks come late in some orders, so that updates are lost as on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import Build

pytestmark = [pytest.mark.nvcc, pytest.mark.recorded("tests/integration/emulator/runtime", "tests/emulated_device.py")]


def _sum(device: Device, build: Build, name: str, *, ahead: bool) -> tuple[int, int]:
    """Returns the blocks' sum, and how many findings there were."""
    device.runtime.schedule(3, runs_ahead=ahead)
    device.runtime.observe(checks="full")
    at, out = device.array(16, np.int32)
    assert getattr(build("updates"), f"run_{name}")(at) == 0
    return int(out[0]), len(device.runtime.take_report().findings)


def test_updates_are_lost_once_the_race_is_known(device: Device, build: Build) -> None:
    total, found = _sum(device, build, "plain", ahead=False)
    assert (total, found > 0) == (12, True)

    total, found = _sum(device, build, "plain", ahead=True)
    assert (0 < total < 12, found > 0) == (True, True)


@pytest.mark.parametrize("name", ["atomic", "last_adds", "own"])
def test_updates_that_are_ordered_are_not_lost(device: Device, build: Build, name: str) -> None:
    for ahead in (False, True, True):
        assert _sum(device, build, name, ahead=ahead) == (12, 0)
