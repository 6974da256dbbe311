"""Goals: their text, the figures that they are about, and what a judgement shows of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.measurements import BenchmarkCase, Measurement, ModelledCase, ModelledKernel
from judge.tracks.goal import FIGURES, GoalResult, check_goal, parse_goal
from judge.verdict import Verdict

KERNEL = ModelledKernel(
    kernel="one", grid=(4, 1, 1), block=(128, 1, 1), launches=1, seconds=1e-5, share=0.75, limiter="DRAM",
    occupancy=1.0, dram_bytes=6144, instructions={"load": 30, "fp32": 10}, active_lanes=0.5,
    flops={"fp32": 100, "tensor_f16": 300}, global_requests=16, global_sectors=80, global_sectors_ideal=64,
    shared_wavefronts=30, shared_wavefronts_ideal=10, global_atomics=8,
)  # fmt: skip
OTHER = replace(
    KERNEL, kernel="other", dram_bytes=2048, instructions={"load": 120}, active_lanes=1.0, flops={}, global_requests=4,
    global_sectors=48, global_sectors_ideal=64, shared_wavefronts=0, shared_wavefronts_ideal=0, global_atomics=0,
)  # fmt: skip
CASE = ModelledCase(
    id="small", value=2e-5, samples=(2e-5,), bytes=4096, flops=2048, roofline_s=1e-5, warp_instructions=160, launches=2,
    limiter="DRAM", why=(), kernels=(KERNEL, OTHER), lines=(),
)  # fmt: skip
MEASURED = BenchmarkCase(id="large", value=4e-4, samples=(4e-4,), bytes=4096, flops=2048, roofline_s=1e-4)


def judged(*cases: BenchmarkCase, verdict: Verdict = Verdict.ACCEPTED) -> Judgement:
    measurement = Measurement("modelled_time_s", 2e-5, 1, 0.0, cases=cases)
    device = DeviceInfo("emulator", "emulator", "Emulator", "9.0")
    return Judgement(verdict, "vector-add", "1.0.0", device, BuildReport(True, 0.1), measurement=measurement)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sectors_over_ideal", 1.0),
        ("requests_per_kib", 5.0),
        ("dram_over_task", 2.0),
        ("global_bytes_per_flop", 2.0),
        ("wavefronts_over_ideal", 3.0),
        ("active_lanes", 87.5),  # 40 instructions with half of the lanes, 120 with all
        ("atomics_per_kib", 2.0),
        ("instructions_per_kib", 40.0),
        ("instructions_per_kflop", 78.125),
        ("tensor_share", 75.0),
        ("launches", 2.0),
        ("roofline_share", 50.0),
    ],
)
def test_figures_sum_up_all_kernels_of_a_call(name: str, value: float) -> None:
    assert FIGURES[name].of(CASE) == pytest.approx(value)


def test_there_is_a_test_of_every_figure() -> None:
    [mark] = test_figures_sum_up_all_kernels_of_a_call.pytestmark  # type: ignore[attr-defined]
    assert {name for name, _ in mark.args[1]} == set(FIGURES)


def test_measured_times_have_no_profile_but_a_share_of_the_roofline() -> None:
    known = {name for name, figure in FIGURES.items() if figure.of(MEASURED) is not None}
    assert known == {"roofline_share"}
    assert FIGURES["roofline_share"].of(MEASURED) == pytest.approx(25)


def test_what_a_kernel_does_not_use_has_no_figure() -> None:
    assert FIGURES["wavefronts_over_ideal"].of(replace(CASE, kernels=(OTHER,))) is None
    assert FIGURES["global_bytes_per_flop"].of(replace(CASE, flops=None)) is None


def test_the_worst_case_decides() -> None:
    worse = replace(CASE, launches=9)
    at_most, at_least = parse_goal("launches <= 2"), parse_goal("launches >= 9")
    assert check_goal(at_most, judged(CASE, worse)) == GoalResult(at_most, 9.0)
    assert check_goal(at_least, judged(CASE, worse)) == GoalResult(at_least, 2.0)
    both = check_goal(at_most, judged(CASE))
    assert both is not None
    assert both.reached


def test_a_case_without_the_figure_reaches_nothing() -> None:
    result = check_goal(parse_goal("launches <= 100"), judged(CASE, MEASURED))
    assert result is not None
    assert (result.value, result.reached) == (None, False)


def test_only_an_accepted_and_timed_judgement_shows_anything() -> None:
    goal = parse_goal("launches <= 2")
    assert check_goal(goal, judged(CASE, verdict=Verdict.WRONG_ANSWER)) is None
    assert check_goal(goal, replace(judged(CASE), measurement=None)) is None


def test_a_goal_is_written_back_as_it_was_and_in_words() -> None:
    goal = parse_goal("sectors_over_ideal <= 1.2")
    assert goal.key == "sectors_over_ideal <= 1.2"
    assert goal.text == "at most 1.2× the minimum of memory sectors"
    assert parse_goal("active_lanes >= 90").text == "at least 90 % of lanes active"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sectors <= 1.2", "there is no figure sectors; there are sectors_over_ideal,"),
        ("launches < 2", "write a figure, <= or >=, and a number"),
        ("launches <= two", "write a figure"),
    ],
)
def test_what_is_no_goal_is_refused(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parse_goal(text)
