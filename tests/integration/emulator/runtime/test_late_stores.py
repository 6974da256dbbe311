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
    at, out = device.array(128, np.int32)
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


def test_a_store_without_a_fence_stays_unseen_after_its_block_has_ended(device: Device, build: Build) -> None:
    total, found = _sum(device, build, "pairs", ahead=False)
    assert (total, found > 0) == (80, True)

    assert _sum(device, build, "pairs", ahead=True)[0] == 40  # each finds its own store only

    for ahead in (False, True, True):
        assert _sum(device, build, "fenced_pairs", ahead=ahead) == (80, 0)


def test_the_missing_fence_is_named_with_both_lines(device: Device, build: Build) -> None:
    device.runtime.observe(checks="full")
    at, _ = device.array(128, np.int32)
    assert build("updates").run_pairs(at) == 0
    race = next(it for it in device.runtime.take_report().findings if it.kind == "race on global memory")
    assert race.other is not None
    assert race.line - race.other.line == 2  # the load, and the store before the fence that is not there
    assert "no __threadfence() stands between the write and the atomic behind it" in race.message


@pytest.mark.parametrize("name", ["chain", "heap"])
def test_a_late_store_comes_in_the_end(device: Device, build: Build, name: str) -> None:
    """To those who poll by loads that are not strong, and before its memory is given to somebody else."""
    for ahead in (False, True, True):
        total, found = _sum(device, build, name, ahead=ahead)
        assert (total, found > 0) == (12, True)
