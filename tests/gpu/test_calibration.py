"""The peaks of a real GPU: the widest matrix instructions give what they should, and what is measured can be."""

from __future__ import annotations

import json
import subprocess
import time

import numpy as np
import pytest

from judge.compile.cubin import build_cubin
from judge.gpu.calibrate import PEAKS_SOURCE, calibrate
from judge.gpu.calibration import Calibration, load_calibration
from judge.gpu.peaks.counts import Peak, peaks_for
from judge.gpu.process import own_process
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings
from tests.peaks import matrix_sums

pytestmark = [pytest.mark.gpu, pytest.mark.timed]

#: Data sheets, dense: bytes/s of memory, operations/s by arithmetic type (boards with the SXM power limit).
_SHEETS = {
    "NVIDIA H200": (4.8e12, {"fp32": 67e12, "fp64": 67e12, "tf32": 494e12, "fp16": 989e12, "int8": 1979e12}),
    "NVIDIA H100 80GB HBM3": (3.35e12, {"fp32": 67e12, "fp64": 67e12, "tf32": 494e12, "fp16": 989e12, "int8": 1979e12}),
}


def _capability(gpu: DeviceInfo) -> tuple[int, int]:
    major, _, minor = gpu.compute_capability.partition(".")
    return int(major), int(minor)


def _results(gpu: DeviceInfo, settings: JudgeSettings, peak: Peak, rounds: int) -> bytes:
    code = (
        "import os, sys; import numpy as np; from judge.gpu.peaks.measure import Bench\n"
        "from judge.gpu.peaks.counts import PEAKS\n"
        "bench = Bench(int(sys.argv[1]), sys.argv[2])\n"
        "peak = next(one for one in PEAKS if one.kernel == sys.argv[3])\n"
        "found = bench.results(peak, peak.operands(np.random.default_rng(4)), int(sys.argv[4]))\n"
        "bench.close(); sys.stdout.buffer.write(found); sys.stdout.flush(); os._exit(0)\n"
    )
    cubin = build_cubin(PEAKS_SOURCE, gpu.compute_capability, settings.data_dir / "kernels")
    command, environment = own_process("judge")
    command[1:] = ["-c", code, str(gpu.details["ordinal"]), str(cubin), peak.kernel, str(rounds)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120).stdout


def test_every_matrix_kernel_multiplies(gpu: DeviceInfo, judge_settings: JudgeSettings) -> None:
    matrix = [peak for peak in peaks_for(_capability(gpu)) if not peak.kernel.startswith("fma")]
    assert matrix
    for peak in matrix:
        operands = peak.operands(np.random.default_rng(4))
        found = _results(gpu, judge_settings, peak, 1)
        got, expected, tolerance = matrix_sums(peak, operands, found, rounds=1)
        np.testing.assert_allclose(got, expected, rtol=0, atol=10 * tolerance, err_msg=peak.kernel)


@pytest.fixture(scope="module")
def calibration(gpu: DeviceInfo, judge_settings: JudgeSettings) -> Calibration:
    started = time.monotonic()
    made = calibrate(gpu, judge_settings)
    took_s = time.monotonic() - started
    print(json.dumps({"took_s": took_s, "read": made.read_bytes_per_s, "copy": made.copy_bytes_per_s, **made.rates}))
    assert took_s < 40
    return made


def test_the_figures_are_near_the_data_sheets(gpu: DeviceInfo, calibration: Calibration) -> None:
    if gpu.name not in _SHEETS:
        pytest.skip(f"no data sheet of {gpu.name} here")
    bytes_per_s, rates = _SHEETS[gpu.name]
    for measured in (calibration.read_bytes_per_s, calibration.copy_bytes_per_s):
        assert 0.8 * bytes_per_s < measured < 1.03 * bytes_per_s
    for name, sheet in rates.items():
        # Boards may clock somewhat above what their sheet is reckoned with.
        assert 0.7 * sheet < calibration.rates[name] < 1.12 * sheet, name
    # Under its power limit a GPU multiplies as fast as the bits that flip let it: bfloat16 has fewer of them.
    assert 0.85 < calibration.rates["bf16"] / calibration.rates["fp16"] < 1.2
    assert calibration.incomplete == ()


def test_it_repeats(gpu: DeviceInfo, judge_settings: JudgeSettings, calibration: Calibration) -> None:
    again = calibrate(gpu, judge_settings)
    assert load_calibration(judge_settings, gpu) == again
    assert again.read_bytes_per_s == pytest.approx(calibration.read_bytes_per_s, rel=0.02)
    for name, rate in calibration.rates.items():
        assert again.rates[name] == pytest.approx(rate, rel=0.04), name
