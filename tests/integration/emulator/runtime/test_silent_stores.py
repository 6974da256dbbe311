"""Full checks report, on request, races in which a store changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from emulator import Finding
from emulator.runtime.report import NOTE_KINDS
from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import PROGRAMS, Build

pytestmark = [pytest.mark.nvcc, pytest.mark.recorded("tests/integration/emulator/runtime", "tests/emulated_device.py")]

_SOURCE = (PROGRAMS / "silent.cu").read_text()
_LINES = {text.rsplit("// ", 1)[1]: number for number, text in enumerate(_SOURCE.splitlines(), 1) if "  // " in text}


def _findings(device: Device, build: Build, name: str, *, told: bool) -> list[tuple[Finding, set[int | None]]]:
    device.limit(checks="full", tell_silent=told)
    (given, _), (out, _) = device.array(np.ones(256), label="in"), device.array(np.ones(64), label="out")
    getattr(build("silent"), f"run_{name}")(given, out)
    device.runtime.synchronize()
    found = device.runtime.take_report().findings
    return [(it, {it.line, it.other.line if it.other else None}) for it in found]


@pytest.mark.parametrize(
    ("name", "lines"), [("overwritten_too_soon", {"next tile", "last tile"}), ("one_place", {"one place"})]
)
def test_equal_numbers_hide_a_race_unless_it_is_asked_for(
    device: Device, build: Build, name: str, lines: set[str]
) -> None:
    told = _findings(device, build, name, told=True)

    assert [where for _, where in told] == [{_LINES[line] for line in lines}]
    assert told[0][0].kind.startswith("race on ")
    assert "changes nothing" in told[0][0].message
    assert _findings(device, build, name, told=False) == []


def test_threads_that_set_a_flag_are_noted_only(device: Device, build: Build) -> None:
    told = _findings(device, build, "flag", told=True)

    assert [(finding.kind, where) for finding, where in told] == [(NOTE_KINDS[0], {_LINES["flag"]})]
    assert "both store the same" in told[0][0].message
    assert _findings(device, build, "flag", told=False) == []


def test_what_reads_behind_a_store_that_changed_nothing_does_not_race(device: Device, build: Build) -> None:
    """As in Floyd and Warshall's algorithm in place: row k and column k are stored, and stay as they are."""
    told = _findings(device, build, "in_place", told=True)

    assert [where for _, where in told] == [{_LINES["stored again"], _LINES["read later"]}]
    assert _findings(device, build, "in_place", told=False) == []


def test_streams_meet_at_stores_that_changed_nothing(device: Device, build: Build) -> None:
    told = _findings(device, build, "two_streams", told=False)

    assert [finding.kind for finding, _ in told] == ["race between streams"]
    assert told[0][1] == {_LINES["copied"]}
