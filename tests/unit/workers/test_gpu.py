"""A GPU's worker: no jobs while the GPU is out of service, and runners as its memory allows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.backends.registry import BUILTIN_BACKENDS
from judge.errors import InternalError
from judge.gpu import calibrate as calibrate_module
from judge.gpu.calibration import Calibration, store_calibration
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings
from workers import device as device_module
from workers import turns as turns_module
from workers.gpu import DeviceService, calibrate_once
from workers.turns import run_or_help_one

CUDA = BUILTIN_BACKENDS.of("cuda")


class FakeHealth:
    def __init__(self) -> None:
        self.problem = ""
        self.is_fit = True
        self.ended: list[bool] = []

    def fit(self) -> bool:
        return self.is_fit and not self.problem

    def job_ended(self, *, failed: bool) -> None:
        self.ended.append(failed)


def gpu(memory_gib: int) -> DeviceInfo:
    return DeviceInfo("gpu", "cuda", "GPU", "9.0", {"memory_bytes": memory_gib << 30})


def test_runners_are_paused_as_long_as_it_is_out_of_service() -> None:
    health, held = FakeHealth(), []

    @contextlib.contextmanager
    def paused() -> Iterator[None]:
        held.append("paused")
        yield
        held.append("resumed")

    service = DeviceService(health, paused=paused)  # type: ignore[arg-type]
    assert service.fit()
    health.problem = "Xid 79"
    assert not service.fit()
    assert not service.fit()
    assert not service.in_service
    assert held == ["paused"]
    health.problem = ""
    assert service.fit()
    assert held == ["paused", "resumed"]


def test_the_last_job_has_left_before_the_gpu_is_looked_at() -> None:
    health = FakeHealth()
    health.is_fit = False

    def settle() -> None:
        health.is_fit = True

    assert DeviceService(health, settle=settle).fit()  # type: ignore[arg-type]


def test_no_job_is_claimed_and_no_board_audited_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(device_module, "attempt_one", lambda *_, **__: calls.append("claim"))
    monkeypatch.setattr(turns_module, "audit_one", lambda *_: calls.append("audit"))
    health = FakeHealth()
    service = DeviceService(health)  # type: ignore[arg-type]
    health.problem = "Xid 79"
    assert not run_or_help_one(None, gpu(80), service=service)  # type: ignore[arg-type]
    assert calls == []
    health.problem = ""
    run_or_help_one(None, gpu(80), service=service)  # type: ignore[arg-type]
    assert calls == ["claim", "audit"]


def test_only_what_is_the_machines_fault_casts_doubt_on_it() -> None:
    health = FakeHealth()
    service = DeviceService(health)  # type: ignore[arg-type]
    with service.job():
        pass
    with pytest.raises(InternalError), service.job():
        raise InternalError("cuInit failed")
    assert health.ended == [False, True]


def test_a_gpu_is_measured_once_and_judges_even_if_it_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, measured = JudgeSettings(data_dir=tmp_path), Calibration("x", "GPU", "", "now", 1e12, 1e12, {})
    calls: list[str] = []

    def fail(*_: object) -> Calibration:
        calls.append("failed")
        raise InternalError("the GPU was throttled")

    def succeed(device: DeviceInfo, settings: JudgeSettings, _: object) -> Calibration:
        calls.append("measured")
        store_calibration(settings, device, measured)
        return measured

    monkeypatch.setattr(calibrate_module, "calibrate", fail)
    calibrate_once(CUDA, gpu(80), settings)
    monkeypatch.setattr(calibrate_module, "calibrate", succeed)
    for _ in range(2):
        calibrate_once(CUDA, gpu(80), settings)
    calibrate_once(BUILTIN_BACKENDS.of("emulator"), DeviceInfo("emulator", "emulator", "CPU", "8.0"), settings)
    assert calls == ["failed", "measured"]
