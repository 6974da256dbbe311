import dataclasses

import pytest

from emulator.model import group_launches, load_gpu, program_time
from emulator.profile import LineProfile
from tests.unit.emulator.model.profiles import counters, launch

H200 = load_gpu("h200")


def test_a_line_costs_by_its_part_in_what_limits_the_kernel():
    arithmetic = counters({"fp32": 1 << 20})
    conflicting = counters({"shared": 1 << 20}, shared_wavefronts=32 << 20, shared_wavefronts_ideal=1 << 20)
    totals = dataclasses.replace(
        conflicting, warp_instructions={"fp32": 1 << 20, "shared": 1 << 20}, thread_instructions=64 << 20
    )
    lines = (LineProfile("kernel.cu", 5, arithmetic), LineProfile("kernel.cu", 6, conflicting))
    found = program_time(group_launches([launch(totals, blocks=1320, threads=256, lines=lines)]), H200)
    assert [line.line for line in found.lines] == [6, 5]
    assert found.lines[0].share > 0.8
    assert sum(line.share for line in found.lines) == pytest.approx(1, abs=0.05)


def test_lines_of_several_launches_are_counted_together():
    one = counters({"fp32": 1 << 20})
    stats = launch(one, blocks=1320, threads=256, lines=(LineProfile("kernel.cu", 5, one),))
    (line,) = program_time(group_launches([stats, stats, dataclasses.replace(stats, grid=(1000, 1, 1))]), H200).lines
    assert line.counters.warp_instructions["fp32"] == 3 << 20
    assert 0.5 < line.share <= 1
