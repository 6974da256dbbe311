"""Order between host and device: a missing wait is reported, and shows where orders are drawn."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from emulator.standalone.source_locations import SourceLocations
from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import PROGRAMS, Build

pytestmark = [pytest.mark.nvcc, pytest.mark.recorded("tests/integration/emulator/runtime", "tests/emulated_device.py")]

_SOURCE = (PROGRAMS / "host_reads.cu").read_text()
_LINES = {text.rsplit("// ", 1)[1]: number for number, text in enumerate(_SOURCE.splitlines(), 1) if "  // " in text}
_CASES = re.findall(r"^CASE\((\w+)\)", _SOURCE, re.M)
_WRONG = [name for name in _CASES if name.startswith("wrong")]
_RIGHT = [name for name in _CASES if name.startswith("right")]


def _run(device: Device, build: Build, name: str, *flags: str) -> int:
    memory, _ = device.array(256, np.int32)
    with device.runtime.shielded():
        seen: int = getattr(build("host_reads", *flags), f"run_{name}")(memory)
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


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("name", _WRONG)
def test_what_the_host_does_too_early_is_told(device: Device, build: Build, name: str, seed: int | None) -> None:
    device.limit(checks="full", schedule_seed=seed)
    _run(device, build, name, "-g")
    (race,) = device.runtime.take_report().findings
    assert race.kind == "race with the host"
    assert race.other is not None
    assert race.allocation is not None
    assert "before it has waited" in race.message
    place = SourceLocations(race.host_frames).of(race.host_frames)
    assert place is not None
    assert place.line == _LINES[name]
    if "copy" in name or "source" in name:
        assert race.message.startswith("race with the host: cudaMemcpyAsync ")
    else:
        kernel = "count" if name == "wrong_counter" else "fill"
        assert (race.line, race.kernel) == (_LINES[kernel], kernel)


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("name", _RIGHT)
def test_what_the_host_has_waited_for_is_no_finding(device: Device, build: Build, name: str, seed: int | None) -> None:
    device.limit(checks="full", schedule_seed=seed)
    assert _run(device, build, name) == 7
    assert device.runtime.take_report().findings == ()


def test_system_calls_use_what_the_device_does_not_write(device: Device, build: Build) -> None:
    device.limit(checks="full")
    memory, _ = device.array(256, np.int32)
    assert build("host_reads").system_calls(memory) == 2048
    assert device.runtime.take_report().findings == ()


def test_a_program_keeps_its_own_crashes(library: Path, build: Build) -> None:
    code = f"""
import ctypes, pathlib, resource
from emulator import Runtime
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
runtime = Runtime(library=pathlib.Path({str(library)!r}), threads=1, checks="full")
program = ctypes.CDLL({build("host_reads")._name!r})
print(program.run_wrong_mapped(None), runtime.take_report().findings[0].kind, flush=True)
ctypes.string_at(8)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "7 race with the host\n"), done
