"""Profiles as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from emulator.profile.render import render, to_json
from emulator.runtime.report import Report
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.profile.conftest import FRAME, Profiled
from tests.unit.emulator.profile.test_counters import WORDS

STRIDED = ".loc 1 3 0\n mad.wide.u32 %rd1, %t, 128, %data;\n .loc 1 4 0\n ld.global.u32 %r1, [%rd1];"


def test_text(machine: Machine, tmp_path: Path) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text("one\ntwo\nthree\n    x = data[32 * i];\n")
    text = FRAME.format(body=STRIDED).replace("kernel.cu", str(source))
    kernel = machine.load(text, "kernel")
    machine.runtime.take_report()
    machine.runtime.observe(profile=True)
    try:
        machine.launch(kernel, 2, 32, WORDS)
        machine.launch(kernel, 2, 32, WORDS)
    finally:
        machine.runtime.observe(profile=False)

    rendered = render(machine.runtime.take_report())

    assert rendered.startswith("kernel: 2 x grid 2x1x1, block 32x1x1\n")
    assert "global sectors     128, 8.00 times the fewest (16)" in rendered
    assert f"{source}:4" in rendered
    assert "| x = data[32 * i];" in rendered


def test_nothing_was_profiled() -> None:
    assert render(Report()) == ""


def test_json(profiled: Profiled) -> None:
    profile = profiled(STRIDED, WORDS)

    data = json.loads(json.dumps(to_json(profile)))

    assert data["totals"]["global_sectors"] == 32
    assert data["lines"][0]["line"] == 4
    assert data["active_lane_ratio"] == 1.0
