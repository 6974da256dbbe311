"""Full checks report asynchronous copies that a kernel uses before it has waited for them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import PROGRAMS, Build

pytestmark = [pytest.mark.nvcc, pytest.mark.recorded("tests/integration/emulator/runtime", "tests/emulated_device.py")]

_SOURCE = (PROGRAMS / "copies.cu").read_text()
_LINES = {text.rsplit("// ", 1)[1]: number for number, text in enumerate(_SOURCE.splitlines(), 1) if "  // " in text}
_COPIES = [number for number, text in enumerate(_SOURCE.splitlines(), 1) if "memcpy_async(" in text]
_RIGHT = ("right_stages", "right_own_read", "right_warp", "right_group", "right_barrier")


def _run(device: Device, build: Build, name: str, seed: int | None) -> None:
    device.limit(checks="full", schedule_seed=seed)
    (given, _), (to, _) = device.array(np.arange(256), np.int32, label="from"), device.array(128, np.int32, label="to")
    getattr(build("copies"), f"run_{name}")(given, to)
    device.runtime.synchronize()


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("name", list(_LINES))
def test_a_copy_that_is_used_too_soon_is_told_with_both_lines(
    device: Device, build: Build, name: str, seed: int | None
) -> None:
    _run(device, build, name, seed)

    races = [finding for finding in device.runtime.take_report().findings if finding.is_race]
    assert races
    for race in races:
        assert race.other is not None
        lines = {race.line, race.other.line}
        assert _LINES[name] in lines
        assert not lines.isdisjoint(_COPIES)
        assert race.kind == f"race on {'global' if name == 'source_written' else 'shared'} memory"
        # Where the barrier comes before the wait, it depends on the order of warps which of the two is missing.
        if name != "barrier_before_wait":
            is_in_flight = name not in ("no_barrier", "source_written")
            assert ("copies asynchronously" in race.message) == is_in_flight
            assert ("__pipeline_wait_prior" in race.message) == is_in_flight


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("name", _RIGHT)
def test_copies_that_are_waited_for_are_no_finding(device: Device, build: Build, name: str, seed: int | None) -> None:
    _run(device, build, name, seed)

    assert device.runtime.take_report().findings == ()
