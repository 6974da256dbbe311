"""The roofline plot: points under the roofs of the right GPU, a table of the same numbers, nothing where no time is."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from emulator.model import load_gpu
from judge.measurements import BenchmarkCase, Fingerprint, Measurement
from judge.packs.steps import ReferenceStep, StepTime
from web.submissions.roofline import comparable_steps, find_roofs, present_roofline, rate, roofs_of

CASE = BenchmarkCase(id="big", value=1e-3, samples=(1e-3,), bytes=1e9, flops=5e8)
TIMED = Measurement("time_s", 1e-3, 1, 0.0, cases=(CASE,), fingerprint=Fingerprint(gpu="NVIDIA H200"))


def test_the_roofs_are_those_of_the_gpu_and_of_the_challenges_type() -> None:
    h200 = roofs_of(load_gpu("h200"), "fp32")
    assert h200.bytes_per_s == 4.3e12
    assert [(roof.name, round(roof.flops_per_s / 1e12)) for roof in h200.compute] == [("fp32", 67)]
    assert h200.ceiling(0.5) == 2.15e12
    assert h200.ceiling(1e6) == h200.compute[0].flops_per_s
    assert [roof.name for roof in roofs_of(load_gpu("h200"), "fp16").compute] == ["fp32", "fp16 tensor cores"]
    assert [roof.name for roof in roofs_of(load_gpu("a100"), "fp64").compute] == ["fp32", "fp64"]
    assert find_roofs(TIMED, "fp32") == h200
    modelled = Measurement("modelled_time_s", 1e-3, 1, 0.0, cases=(CASE,), gpu="a100", model=4)
    assert find_roofs(modelled, "fp32") == roofs_of(load_gpu("a100"), "fp32")
    assert find_roofs(replace(TIMED, fingerprint=Fingerprint(gpu="NVIDIA L40S")), "fp32") is None


def test_the_table_says_what_the_plot_shows() -> None:
    view = present_roofline(TIMED, "fp32", [2e-3, 4e-3])
    assert view is not None
    assert view.rows == (("big", "0.500", "500 GFLOP/s", "2.15 TFLOP/s", "23.3 %"),)
    heights = [
        [float(y) for y in re.findall(rf'class="{style}"[^>]* cy="([0-9.]+)"', view.chart)]
        for style in ("current", "earlier")
    ]
    # Half the rate lies lower, at the same intensity.
    assert heights[0][0] < heights[1][0] < heights[1][1]
    assert len(set(re.findall(r'class="(?:current|earlier)" cx="([0-9.]+)"', view.chart))) == 1
    assert "NVIDIA H200" in view.gpu
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", view.chart)
    assert {"operations per byte", "operations per second (FLOP/s)"} <= {*texts}


def test_our_own_kernels_stand_beside_it_where_the_gpu_is_the_same() -> None:
    steps = [
        ReferenceStep("plain", "", "", StepTime(8e-6, None, "NVIDIA A100"), StepTime(2e-3, None, "NVIDIA H200")),
        ReferenceStep("tuned", "", "", StepTime(4e-6, 2.0, "NVIDIA A100"), StepTime(5e-4, 4.0, "NVIDIA H200")),
        ReferenceStep("untimed", "", "", None, None),
    ]
    assert comparable_steps(TIMED, steps) == [("plain", 2e-3), ("tuned", 5e-4)]
    modelled = Measurement("modelled_time_s", 1e-3, 1, 0.0, cases=(CASE,), gpu="a100", model=4)
    assert comparable_steps(modelled, [replace(steps[0], modelled=StepTime(8e-6, None, load_gpu("a100").name))]) == [
        ("plain", 8e-6)
    ]
    assert comparable_steps(replace(TIMED, fingerprint=Fingerprint(gpu="NVIDIA L40S")), steps) == []
    assert comparable_steps(replace(TIMED, fingerprint=Fingerprint()), steps) == []
    view = present_roofline(TIMED, "fp32", [], comparable_steps(TIMED, steps))
    assert view is not None
    assert view.steps == (
        ("plain", "0.500", "250 GFLOP/s", "2.15 TFLOP/s", "11.6 %"),
        ("tuned", "0.500", "1.00 TFLOP/s", "2.15 TFLOP/s", "46.5 %"),
    )
    below, above = (float(y) for y in re.findall(r'class="step" d="M[0-9.]+ ([0-9.]+)l', view.chart))
    (own,) = re.findall(r'class="current"[^>]* cy="([0-9.]+)"', view.chart)
    assert above < float(own) < below
    assert view.chart.count(">plain</text>") == view.chart.count(">tuned</text>") == 1
    # A score over several cases is none of a single one.
    several = present_roofline(replace(TIMED, cases=(CASE, CASE)), "fp32", [], comparable_steps(TIMED, steps))
    assert several is not None
    assert several.steps == ()


def test_a_measured_ceiling_wins_and_an_unknown_gpu_has_points_alone() -> None:
    calibrated = replace(TIMED, cases=(replace(CASE, roofline_s=5e-4),), fingerprint=Fingerprint(gpu="NVIDIA L40S"))
    view = present_roofline(calibrated, "fp32", [])
    assert view is not None
    assert view.rows[0][3:] == ("1.00 TFLOP/s", "50.0 %")
    assert 'class="roof"' not in view.chart
    bare = present_roofline(replace(TIMED, fingerprint=Fingerprint()), "fp32", [])
    assert bare is not None
    assert bare.rows[0][3:] == ("–", "–")


@pytest.mark.parametrize(
    "measurement",
    [
        replace(TIMED, cases=()),
        replace(TIMED, cases=(replace(CASE, flops=None),)),
        replace(TIMED, cases=(replace(CASE, bytes=0.0),)),
    ],
)
def test_no_plot_without_a_time_and_operations(measurement: Measurement) -> None:
    assert present_roofline(measurement, "fp32", []) is None


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e3, 1e9])
def test_all_points_lie_within_the_picture(scale: float) -> None:
    view = present_roofline(replace(TIMED, cases=(CASE, replace(CASE, flops=5e8 * scale))), "fp32", [])
    assert view is not None
    for x, y in re.findall(r'cx="([-0-9.]+)" cy="([-0-9.]+)"', view.chart):
        assert 0 < float(x) < 640
        assert 0 < float(y) < 300


def test_rates_have_fitting_units() -> None:
    assert [rate(value) for value in (1.0, 2.5e6, 999.6e9, 1e15)] == [
        "1.00 FLOP/s",
        "2.50 MFLOP/s",
        "1.00 TFLOP/s",
        "1.00 PFLOP/s",
    ]
