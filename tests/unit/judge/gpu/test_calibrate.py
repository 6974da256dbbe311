from pathlib import Path
from typing import Any

import pytest

from judge.errors import InternalError
from judge.gpu import calibrate as module
from judge.gpu.calibrate import calibrate
from judge.gpu.calibration import load_calibration
from judge.gpu.nvml import GpuState
from judge.gpu.peaks.counts import incomplete_for, peaks_for
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings
from tests.fake_gpu import FakeGpuWatch

GPU = DeviceInfo("gpu", "cuda", "GPU", "9.0", {"uuid_hash": "abc", "driver": "580.1", "ordinal": 2})
MEASURED = {"read_bytes_per_s": 4e12, "copy_bytes_per_s": 3e12, "rates": {"fp32": 6e13, "fp16": 8e14}}


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    answer = dict(MEASURED)

    def measure(ordinal: int, cubin: Path, say: module.Say) -> dict[str, Any]:
        assert (ordinal, cubin) == (2, Path("peaks.cubin"))
        say("memory")
        return answer

    monkeypatch.setattr(module, "_measure", measure)
    monkeypatch.setattr(module, "build_cubin", lambda *_: Path("peaks.cubin"))
    return answer


def test_what_was_measured_is_stored(tmp_path: Path) -> None:
    settings, said = JudgeSettings(data_dir=tmp_path), list[str]()
    made = calibrate(GPU, settings, said.append, open_watch=lambda _: FakeGpuWatch([GpuState(power_capped=True)]))
    assert load_calibration(settings, GPU) == made
    assert made.rates == MEASURED["rates"]
    assert made.bounds("fp16")
    assert said == ["compiling", "memory"]


@pytest.mark.parametrize(
    "state", [GpuState(throttled_by=("power brake",)), GpuState(other_pids=(123,))], ids=["throttled", "shared"]
)
def test_a_disturbed_measurement_is_thrown_away(tmp_path: Path, state: GpuState) -> None:
    settings = JudgeSettings(data_dir=tmp_path)
    watch = FakeGpuWatch([state])
    with pytest.raises(InternalError, match=r"power brake|123"):
        calibrate(GPU, settings, open_watch=lambda _: watch)
    assert load_calibration(settings, GPU) is None
    assert watch.closed


def test_nonsense_is_not_stored(tmp_path: Path, measured: dict[str, Any]) -> None:
    settings = JudgeSettings(data_dir=tmp_path)
    measured["copy_bytes_per_s"] = 0.0
    with pytest.raises(InternalError):
        calibrate(GPU, settings, open_watch=lambda _: None)
    assert load_calibration(settings, GPU) is None
    with pytest.raises(InternalError):
        calibrate(DeviceInfo("emulator", "emulator", "CPU", "8.0"), settings)


def test_what_runs_where_and_bounds_what() -> None:
    kernels = {major: {peak.kernel for peak in peaks_for((major, 0))} for major in (7, 8, 9, 10, 12)}
    assert kernels[7] == {"fma_fp32", "fma_fp64"}
    assert "mma_fp16" in kernels[8]
    assert "mma_fp64_large" not in kernels[8]
    assert {name for name in kernels[9] if name.startswith("wgmma")} == {
        f"wgmma_{name}" for name in ("tf32", "fp16", "bf16", "int8")
    }
    assert not {name for name in kernels[10] | kernels[12] if name.startswith("wgmma")}
    assert [incomplete_for((major, 0)) for major in (8, 9, 12)] == [(), (), ()]
    assert set(incomplete_for((10, 0))) == {"tf32", "fp16", "bf16", "int8"}
