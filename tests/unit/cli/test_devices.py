from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from judge.backends.cuda.probe import probe_gpus
from judge.errors import InternalError
from judge.gpu import calibrate, discovery, trial
from judge.gpu.calibration import Calibration, store_calibration
from judge.gpu.health import GpuHealth
from judge.gpu.lock import device_lock
from judge.gpu.nvml import GpuState
from judge.judgement import DeviceInfo
from judge.probe import Probe
from judge.settings import JudgeSettings
from tests.fake_gpu import FakeGpuWatch
from tests.unit.cli.conftest import Cli

GPU = DeviceInfo("gpu", "cuda", "GPU", "10.0", {"uuid_hash": "abc", "driver": "580.1", "ordinal": 0})
MEASURED = Calibration(
    "abc", "GPU", "580.1", "2026-01-02T03:04:05+00:00", 7e12, 6e12, {"fp32": 6.5e13, "fp16": 1e15}, ("fp16",)
)


@pytest.fixture(autouse=True)
def _one_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUJUDGE_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(discovery, "find_gpus", lambda _, **__: discovery.FoundGpus((GPU,), ""))


def test_devices_are_listed_with_their_calibration(cli: Cli, tmp_path: Path) -> None:
    listed = {one["device"]: one for one in cli("device", "list", "--json").json["devices"]}
    assert listed.keys() == {"emulator", "cuda:0"}
    assert listed["cuda:0"]["calibration"] is None
    store_calibration(JudgeSettings(data_dir=tmp_path), GPU, MEASURED)
    assert MEASURED.date in cli("device", "list").stdout


def test_what_was_measured_is_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "calibrate", lambda *_: MEASURED)
    shown = cli("device", "calibrate", "--device", "gpu").stdout
    assert "7,000 GB/s" in shown
    assert "1,000.0" in shown
    assert shown.count("no bound") == 1


def test_what_went_wrong_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise InternalError("the GPU was throttled", "cool it")

    monkeypatch.setattr(calibrate, "calibrate", fail)
    ended = cli("device", "calibrate")
    assert (ended.exit_code, "cool it" in ended.stderr) == (1, True)
    assert cli("device", "calibrate", "-d", "emulator").exit_code == 2
    assert cli("device", "calibrate", "-d", "cuda:3").exit_code == 2


def _checked(settings: JudgeSettings, name: str) -> Probe:
    return next(check for check in probe_gpus(settings) if check.name == f"{name} of cuda:0")


def test_doctor_says_what_is_not_calibrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "remembers", lambda *_: False)
    settings = JudgeSettings(data_dir=tmp_path)
    lacking = _checked(settings, "calibration")
    assert (lacking.ok, lacking.required) == (False, False)
    assert lacking.remedy == "gpujudge device calibrate --device cuda:0"
    store_calibration(settings, GPU, MEASURED)
    assert _checked(settings, "calibration").ok
    store_calibration(settings, GPU, dataclasses.replace(MEASURED, driver="570.0"))
    assert not _checked(settings, "calibration").ok


@pytest.mark.parametrize("remembers", [False, True])
def test_doctor_requires_that_gpu_memory_is_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remembers: bool
) -> None:
    monkeypatch.setattr(trial, "remembers", lambda *_: remembers)
    check = _checked(JudgeSettings(data_dir=tmp_path), "memory")
    assert (check.ok, check.required) == (not remembers, True)


def test_doctor_leaves_a_gpu_that_judges_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "remembers", lambda *_: pytest.fail("the GPU was taken"))
    monkeypatch.setattr("judge.backends.cuda.probe._PATIENCE_S", 0.0)
    settings = JudgeSettings(data_dir=tmp_path)
    with device_lock(GPU, settings):
        check = _checked(settings, "memory")
    assert (check.ok, "judging" in check.detail) == (True, True)


def test_doctor_says_what_is_out_of_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "remembers", lambda *_: False)
    settings = JudgeSettings(data_dir=tmp_path)
    health = GpuHealth(GPU, settings, FakeGpuWatch([GpuState(xids=(79,))]), lambda: "", waiting=0)
    assert not health.fit()
    check = _checked(settings, "service")
    assert "Xid 79" in check.detail
    assert not check.ok
