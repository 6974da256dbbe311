"""Wrong uses of textures and surfaces are named with their line; calls about arrays answer as they should."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from emulator import CudaError
from tests.emulated_device import Device
from tests.integration.emulator.images.conftest import PROGRAMS
from tests.integration.emulator.runtime.conftest import Build

pytestmark = [pytest.mark.nvcc, pytest.mark.recorded("tests/integration/emulator/images", "tests/emulated_device.py")]

_SOURCE = (PROGRAMS / "faults.cu").read_text()
_LINES = {text.rsplit("// ", 1)[1]: number for number, text in enumerate(_SOURCE.splitlines(), 1) if ";  // " in text}


@pytest.fixture(autouse=True)
def _reset(device: Device) -> Iterator[None]:
    yield
    device.runtime.clear_errors()


def _run_wrong(device: Device, build: Build, name: str, *arguments: object) -> str | None:
    """Returns the error that the launch ends with."""
    getattr(build("faults"), f"run_{name}")(*arguments)
    try:
        device.runtime.synchronize()
    except CudaError as error:
        return error.name
    return None


@pytest.mark.parametrize(
    ("name", "kind", "line", "error", "words"),
    [
        ("destroyed", "invalid texture object", "fetch", "cudaErrorIllegalAddress", "has been destroyed"),
        ("wrong_kind", "invalid texture object", "fetch", "cudaErrorIllegalAddress", "is a surface object's"),
        ("freed_array", "read after free", "fetch", None, "cudaMallocArray"),
        ("freed_linear", "read after free", "fetch linear", None, "cudaMalloc #"),
    ],
)
def test_textures_of_what_is_not_there(
    device: Device, build: Build, name: str, kind: str, line: str, error: str | None, words: str
) -> None:
    out, _ = device.array(32)
    found_error = _run_wrong(device, build, name, out)

    (finding,) = {(f.kind, f.line): f for f in device.runtime.take_report().findings}.values()
    assert (finding.kind, finding.line, found_error) == (kind, _LINES[line], error)
    assert words in finding.message


@pytest.mark.parametrize("name", ["write_past", "read_past"])
def test_surfaces_are_not_accessed_beyond_their_arrays(device: Device, build: Build, name: str) -> None:
    out, _ = device.array(32)
    error = _run_wrong(device, build, name, *([out] if name == "read_past" else []))

    finding = device.runtime.take_report().findings[0]
    verb = name.partition("_")[0]
    assert (finding.kind, finding.line) == (f"out-of-bounds surface {verb}", _LINES[f"{verb} past"])
    assert finding.thread == ((24, 0, 0) if verb == "write" else (8, 0, 0))
    assert "of a surface of 256 bytes x 8 x 1" in finding.message
    assert error == "cudaErrorLaunchFailure"


def test_a_texel_that_nobody_wrote(device: Device, build: Build) -> None:
    device.limit(checks="full")
    out, _ = device.array(32)
    assert _run_wrong(device, build, "unwritten", out) is None

    (finding,) = device.runtime.take_report().findings
    assert (finding.kind, finding.line) == ("uninitialized read", _LINES["fetch"])


def test_a_race_on_a_surface(device: Device, build: Build) -> None:
    device.limit(checks="full")
    assert _run_wrong(device, build, "racing") is None

    findings = device.runtime.take_report().findings
    assert ("race on global memory", _LINES["race"]) in {(f.kind, f.line) for f in findings}


def test_a_texture_reads_what_a_surface_wrote(device: Device, build: Build) -> None:
    device.limit(checks="full")
    out, memory = device.array(32)
    assert _run_wrong(device, build, "right", out) is None
    assert np.array_equal(memory, np.arange(32))
    assert device.runtime.take_report().findings == ()


def test_calls_about_arrays(device: Device, build: Build) -> None:
    assert build("faults").run_calls() == 0
    device.runtime.clear_errors()


def test_a_profile_counts_fetches(device: Device, build: Build) -> None:
    out, _ = device.array(32)
    device.runtime.observe(profile=True)
    try:
        assert build("faults").run_right(out) == 0
        (launch,) = (it for it in device.runtime.take_report().launches if "fetch" in it.kernel)
    finally:
        device.runtime.observe()
    assert launch.profile is not None
    totals = launch.profile.totals
    # The fetch of a row of 128 bytes, and the store of the results.
    assert (totals.global_requests, totals.global_loads, totals.global_sectors) == (2, 1, 8)
