"""The order between host and device: what the host did not wait for shows in the results where orders are drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import PROGRAMS, Build

pytestmark = [pytest.mark.nvcc, pytest.mark.recorded("tests/integration/emulator/runtime", "tests/emulated_device.py")]

_SOURCE = (PROGRAMS / "host_reads.cu").read_text()
_CASES = re.findall(r"^CASE\((\w+)\)", _SOURCE, re.M)
_WRONG = [name for name in _CASES if name.startswith("wrong")]
_RIGHT = [name for name in _CASES if name.startswith("right")]


def _run(device: Device, build: Build, name: str) -> int:
    memory, _ = device.array(256, np.int32)
    with device.runtime.shielded():
        seen: int = getattr(build("host_reads"), f"run_{name}")(memory)
    device.runtime.synchronize()
    return seen


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("name", _WRONG)
def test_the_host_sees_what_was_there_before(device: Device, build: Build, name: str, ahead: bool) -> None:
    device.runtime.schedule(1, runs_ahead=ahead)
    assert _run(device, build, name) == 3


@pytest.mark.parametrize("order", [None, False, True])
@pytest.mark.parametrize("name", _RIGHT)
def test_the_host_sees_what_it_has_waited_for(device: Device, build: Build, name: str, order: bool | None) -> None:
    device.runtime.schedule(None if order is None else 1, runs_ahead=bool(order))
    assert _run(device, build, name) == 7
    assert device.runtime.take_report().findings == ()
