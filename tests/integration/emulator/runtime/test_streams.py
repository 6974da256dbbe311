"""Order between streams: a missing wait is reported with both lines, and shows in the results."""

from __future__ import annotations

import re

import numpy as np
import pytest

from emulator import Finding
from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import PROGRAMS, Build

pytestmark = [pytest.mark.nvcc, pytest.mark.recorded("tests/integration/emulator/runtime", "tests/emulated_device.py")]

_SOURCE = (PROGRAMS / "streams.cu").read_text()
_LINES = {text.rsplit("// ", 1)[1]: number for number, text in enumerate(_SOURCE.splitlines(), 1) if "  // " in text}
_CASES = re.findall(r"^CASE\((\w+)\)", _SOURCE, re.M)
_WRONG = [name for name in _CASES if name.startswith("wrong")]
_RIGHT = [name for name in _CASES if name.startswith("right")]


def _run(device: Device, build: Build, name: str) -> np.ndarray:
    (middle, values), (out, results) = (device.array(256, np.int32, label=label) for label in ("middle", "out"))
    values[:] = 40
    assert getattr(build("streams"), f"run_{name}")(middle, out) == 0
    device.runtime.synchronize()
    return results


def _findings(device: Device) -> tuple[Finding, ...]:
    return device.runtime.take_report().findings


@pytest.mark.parametrize("name", _WRONG)
@pytest.mark.parametrize("seed", [None, 5])
def test_what_nothing_orders_is_told(device: Device, build: Build, name: str, seed: int | None) -> None:
    device.limit(checks="full", schedule_seed=seed)
    _run(device, build, name)

    race = _findings(device)[0]
    assert race.kind == "race between streams"
    assert race.other is not None
    assert race.allocation == ("__constant__ table" if name == "wrong_constant" else "middle")
    told = {race.line, race.other.line}
    if name == "wrong_copy":
        assert told == {_LINES["first"], None}
        assert "cudaMemcpyToSymbolAsync reads" in race.message
    elif name == "wrong_constant":
        assert told == {_LINES["third"], None}
        assert "cudaMemcpyToSymbolAsync writes" in race.message
    elif name == "wrong_fill":
        assert told == {_LINES["first"], None}
        assert "cudaMemsetAsync writes" in race.message
    else:
        assert told == {_LINES["first"], _LINES["second"]}
    assert "cudaStreamWaitEvent" in race.message


@pytest.mark.parametrize("name", _WRONG)
def test_what_nothing_orders_shows_in_some_order(device: Device, build: Build, name: str) -> None:
    wrong = 0
    for seed in range(1, 9):
        device.limit(schedule_seed=seed)
        wrong += bool((_run(device, build, name) != 2).any())
    assert 0 < wrong < 8


def test_work_is_late_where_a_warp_may_run_ahead(device: Device, build: Build) -> None:
    device.runtime.schedule(1, runs_ahead=True)
    assert (_run(device, build, "wrong_no_event") == 41).all()


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
@pytest.mark.parametrize("name", _RIGHT)
def test_what_is_ordered_is_no_finding(device: Device, build: Build, name: str, seed: int | None) -> None:
    device.limit(checks="full", schedule_seed=seed)
    assert (_run(device, build, name) == 2).all()
    assert _findings(device) == ()


@pytest.mark.parametrize("name", _RIGHT)
def test_late_work_is_right_where_it_is_waited_for(device: Device, build: Build, name: str) -> None:
    device.runtime.schedule(1, runs_ahead=True)
    assert (_run(device, build, name) == 2).all()
