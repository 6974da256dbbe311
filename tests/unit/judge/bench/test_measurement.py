import dataclasses
import statistics

import pytest

from emulator.model import load_gpu
from judge.bench.measurement import TimedCase, fingerprint, measured_score, modelled_fingerprint, modelled_score
from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.judgement import DeviceInfo
from judge.measurements import Fingerprint, ModelledCase, ObservedConditions
from tests.host_device.judging import twice_pack

PACK = twice_pack()
CASE = PACK.benchmarks[0]
FINGERPRINT = Fingerprint(gpu="GPU")
STEADY = ((1e-3,) * 50, (1.001e-3,) * 60, (1.002e-3,) * 50)


def test_times_become_rates_by_the_packs_bytes_and_flops() -> None:
    score = measured_score(PACK, [TimedCase(CASE, STEADY)], fingerprint=FINGERPRINT)
    assert (score.metric, score.value, score.median_s, score.runs) == ("time_s", 1.001e-3, 1.001e-3, 160)
    assert score.gb_per_s == pytest.approx(8 * 500_000 / 1.001e-3 / 1e9)
    assert score.gflop_per_s == pytest.approx(500_000 / 1.001e-3 / 1e9)
    assert score.cases[0].samples == tuple(sample for process in STEADY for sample in process)
    assert score.cases[0].processes == STEADY
    assert score.fingerprint == FINGERPRINT
    assert score.roofline_share is None


def test_the_score_is_the_median_of_the_medians_within_its_interval() -> None:
    processes = ((1.0,) * 50, (2.0,) * 49 + (9.0,) * 50, (3.0,) * 50)
    score = measured_score(PACK, [TimedCase(CASE, processes)], fingerprint=Fingerprint())
    assert score.value == 3.0
    assert score.low is not None
    assert score.high is not None
    assert score.low < 3.0 < score.high
    assert score.high - score.value >= 4.3 * 0.669 * statistics.stdev([1.0, 9.0, 3.0])


def test_the_interval_is_at_least_the_middle_process_s_own() -> None:
    shaky = ((1.0, 1.4) * 30,) * 3
    score = measured_score(PACK, [TimedCase(CASE, shaky)], fingerprint=Fingerprint())
    assert (score.low, score.high) == (pytest.approx(1.0), pytest.approx(1.4))


def test_several_cases_are_combined_by_their_geometric_mean() -> None:
    long = TimedCase(CASE, tuple(tuple(4 * sample for sample in process) for process in STEADY), roofline_s=2e-3)
    score = measured_score(PACK, [TimedCase(CASE, STEADY, roofline_s=0.5e-3), long], fingerprint=Fingerprint())
    assert score.value == pytest.approx(2.002e-3)
    assert score.runs == 320
    assert score.roofline_share == pytest.approx(1e-3 / 2.002e-3)
    assert score.cases[1].roofline_s == 2e-3


def test_there_is_a_roofline_share_only_if_every_case_has_a_roofline() -> None:
    score = measured_score(
        PACK, [TimedCase(CASE, STEADY, roofline_s=1e-3), TimedCase(CASE, STEADY)], fingerprint=Fingerprint()
    )
    assert score.roofline_share is None


def test_modelled_times_have_no_rates_and_no_interval() -> None:
    details = {"warp_instructions": 5, "launches": 1, "limiter": "latency", "why": (), "kernels": (), "lines": ()}
    timed = TimedCase(CASE, ((12e-6,),), details=details)
    made_with = Fingerprint(device="emulator", nvcc="13.0")
    score = modelled_score(PACK, [timed], gpu="h200", model=3, fingerprint=made_with)
    assert score.fingerprint == made_with
    assert (score.value, score.runs, score.spread) == (12e-6, 1, 0.0)
    [case] = score.cases
    assert isinstance(case, ModelledCase)
    assert (score.scale, case.limiter) == ("modelled_time_s/h200/3", "latency")
    assert score.median_s is score.gb_per_s is score.gflop_per_s is score.low is score.high is None


def test_a_modelled_share_is_of_the_time_without_an_empty_launch() -> None:
    empty = load_gpu("h200").launch
    details = {"warp_instructions": 5, "launches": 1, "limiter": "latency", "why": (), "kernels": (), "lines": ()}

    def share(*cases: tuple[float | None, float]) -> float | None:
        timed = [TimedCase(CASE, ((seconds,),), roofline_s=roofline, details=details) for roofline, seconds in cases]
        return modelled_score(PACK, timed, gpu="h200", model=5, fingerprint=Fingerprint()).roofline_share

    launch_s = empty.first_s + empty.each_s
    assert share((1e-6, launch_s + 4e-6)) == pytest.approx(0.25)
    # Two launches cost a second one.
    assert share((1e-6, launch_s + empty.each_s + 4e-6)) == pytest.approx(1e-6 / (4e-6 + empty.each_s))
    assert share((1e-6, launch_s + 1e-6), (1e-6, launch_s + 4e-6)) == pytest.approx(0.5)
    # Copies alone may take less than a launch.
    assert share((1e-6, 0.9 * launch_s)) == 1.0
    assert share((1e-6, 1e-5), (None, 1e-5)) is None


def test_a_fingerprint_names_the_compiler_that_built_the_artifact() -> None:
    options = ("-std=c++17", "-gencode", "arch=compute_90,code=sm_90")
    artifact = Artifact(b"", Target("cuda", "sm_90"), compiler_version="11.8", compiler_options=options)
    device = DeviceInfo("gpu", "cuda", "GPU", "9.0")
    for made in (
        fingerprint(PACK, artifact, device, None, ObservedConditions()),
        modelled_fingerprint(PACK, artifact, device),
    ):
        assert (made.nvcc, made.nvcc_flags) == ("11.8", options)


def test_a_fingerprint_says_what_a_program_in_python_had_of_pytorch() -> None:
    device = DeviceInfo("gpu", "cuda", "GPU", "9.0", {"pytorch": "2.11.0, tensors"})
    native = Artifact(b"", Target("cuda", "sm_90"))
    python = dataclasses.replace(native, loader="judge.runner.triton.program")
    made = [fingerprint(PACK, each, device, None, ObservedConditions()).pytorch for each in (native, python)]
    assert made == ["", "2.11.0, tensors"]
