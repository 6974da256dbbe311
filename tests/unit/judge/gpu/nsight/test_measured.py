"""Figures from pages that Nsight Compute 2025.3.1 printed of three kernels on an H200, and from damaged ones."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.gpu.nsight import measured
from judge.gpu.nsight.measured import read_case
from judge.gpu.nsight.report import ReportPages
from judge.gpu.nsight.tool import NoProfile
from judge.profile import MeasuredCase

RECORDED = Path(__file__).resolve().parents[4] / "fake_ncu"
RAW, SOURCE = (RECORDED / "raw.csv").read_text(), (RECORDED / "source.csv").read_text()


def read(raw: str = RAW, source: str = SOURCE, most: int = 24) -> MeasuredCase:
    return read_case("large", {"N": 4}, ReportPages(raw, source), most)


def test_kernels_come_with_the_slowest_first() -> None:
    conflicts, transpose, add = read().kernels
    assert [kernel.kernel for kernel in (conflicts, transpose, add)] == ["conflicts", "transpose", "add"]
    assert conflicts.seconds == pytest.approx(429.376e-6)
    assert conflicts.share + transpose.share + add.share == pytest.approx(1)
    assert (conflicts.grid, conflicts.block, conflicts.registers, conflicts.shared_bytes) == (
        (64, 1, 1),
        (32, 32, 1),
        30,
        4096,
    )


def test_parts_of_the_gpu_are_shares_of_their_limits() -> None:
    conflicts, transpose, add = read().kernels
    assert transpose.busy == pytest.approx(
        {"compute": 0.0722, "memory": 0.7531, "L1": 0.4657, "L2": 0.7531, "DRAM": 0.0576}
    )
    assert (transpose.limiter, add.limiter, conflicts.limiter) == ("L2", "L2", "latency")


def test_the_memories_have_bytes_and_hits() -> None:
    add = read().kernels[2]
    assert add.memory == pytest.approx(
        {
            "L1 hits": 0,
            "L2 hits": 0.347,
            "shared bytes": 131072 * 128,
            "L1 bytes": 3 * (1 << 24),
            "L2 bytes": 77274848,
            "DRAM read bytes": 33560320,
            "DRAM written bytes": 4703744,
        }
    )


def test_warps_wait_for_what_people_know() -> None:
    conflicts, transpose, _ = read().kernels
    assert next(iter(conflicts.states.items())) == ("shared memory queue full", 99.67)
    assert next(iter(transpose.states.items())) == ("stores at the end", 164.19)


def test_lines_have_their_share_of_the_samples() -> None:
    lines = read().lines
    assert (lines[0].file, lines[0].line) == ("kernel.cu", 21)
    assert sum(line.share for line in lines) == pytest.approx(1)
    assert (lines[0].shared_wavefronts, lines[0].shared_wavefronts_ideal) == (37748736, 8388608)
    store = next(line for line in lines if line.line == 12)
    assert (store.global_sectors, store.global_sectors_ideal, store.active_lanes) == (4718592, 1048576, 1.0)
    assert max(store.states, key=lambda name: store.states[name]) == "memory"


def test_launches_of_one_kernel_in_one_shape_are_summed() -> None:
    lines = RAW.splitlines()
    again = "\n".join([*lines, lines[3].replace('"0"', '"3"', 1)])
    add = next(kernel for kernel in read(again).kernels if kernel.kernel == "add")
    assert add.launches == 2
    assert add.seconds == pytest.approx(2 * 15.264e-6)
    assert add.memory["DRAM read bytes"] == pytest.approx(33560320)  # of one


def test_a_call_that_was_cut_says_so() -> None:
    assert read(most=3).left_out
    assert not read(most=4).left_out


def test_metrics_may_be_missing() -> None:
    head, units, *rows = [line for line in RAW.splitlines() if line.startswith('"')]
    bare = "\n".join('","'.join(line.split('","')[:11]) + '"' for line in (head, units, *rows))
    found = read(bare, "").kernels[0]
    assert (found.busy, found.memory, found.states, found.occupancy, found.seconds) == ({}, {}, {}, None, 0.0)
    assert found.limiter == ""


def test_no_kernel_is_no_profile() -> None:
    with pytest.raises(NoProfile, match="no kernel"):
        read("==WARNING== nothing")


def test_numbers_beyond_all_bounds_are_left_out() -> None:
    forged = RAW.replace('"429,376"', '"1e400"').replace('"70,560"', '"nan"').replace('"15,264"', '"-1e300"')
    for kernel in read(forged).kernels:
        assert kernel.seconds == 0.0


@given(st.text(alphabet=st.sampled_from('"",\n0123456789.eE-() abcIDx\0'), max_size=400))
def test_any_page_gives_numbers_or_no_profile(text: str) -> None:
    page = '"ID","Kernel Name","Grid Size","gpu__time_duration.sum"\n' + text
    source = '"File Path","/tmp/kernel.cu"\n"Line No","Source","# Samples","Instructions Executed"\n' + text
    try:
        found = read(page, source)
    except NoProfile:
        return
    assert all(math.isfinite(kernel.seconds) for kernel in found.kernels)
    assert all(0 <= line.line < 10**9 and math.isfinite(line.share) for line in found.lines)


def test_a_cell_without_end_is_no_profile() -> None:
    with pytest.raises(NoProfile, match="cannot be read"):
        read(source=f'"Line No","# Samples"\n"{"1" * 200_000}","1"\n')


def test_lines_are_numbered_by_plain_digits() -> None:
    assert read(source='"Line No","# Samples"\n"²","1"\n').lines == ()


def test_no_page_has_the_judge_read_rows_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "_MOST_ROWS", 100)
    with pytest.raises(NoProfile, match="more than 100 rows"):
        read(source='"1"\n' * 200)


def test_states_are_few_and_their_names_short() -> None:
    names = [f"stall_{'x' * 100}{number}" for number in range(100)]
    head = ",".join(f'"{name}"' for name in ("Line No", "# Samples", *names))
    row = ",".join(f'"{number}"' for number in (1, 10, *[1] * len(names)))
    [line] = read(source=f"{head}\n{row}\n").lines
    assert len(line.states) <= 32
    assert all(len(name) <= 40 for name in line.states)


def test_no_figure_is_negative() -> None:
    [line] = read(source='"Line No","# Samples","Instructions Executed"\n"1","10","-5"\n').lines
    assert line.instructions == 0
