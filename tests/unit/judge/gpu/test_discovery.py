import dataclasses
import importlib.metadata
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from judge.gpu import discovery
from judge.settings import JudgeSettings


def test_keys_are_slugs_of_the_model() -> None:
    assert discovery.device_key("NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3"
    assert discovery.device_key("Tesla T4 (rev. 2)") == "tesla-t4-rev-2"


def test_without_a_driver_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery.Path, "exists", lambda _: False)
    assert discovery.find_gpus(JudgeSettings(data_dir=Path("/nonexistent"))).problem == "no NVIDIA driver is loaded"


@pytest.mark.parametrize(
    ("allowed", "key", "name", "pytorch"),
    [
        ("off", "nvidia-h200", "NVIDIA H200", None),
        ("tensors", "nvidia-h200", "NVIDIA H200", "2.11.0, tensors"),
        ("functions", "nvidia-h200-pytorch", "NVIDIA H200 with PyTorch", "2.11.0, functions"),
    ],
)
def test_where_submissions_may_call_pytorch_a_gpu_is_another_device(
    allowed: str, key: str, name: str, pytorch: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = _with_one_gpu(monkeypatch, allowed)
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "2.11.0")
    (device,) = discovery.find_gpus(settings).devices
    assert (device.key, device.name, device.details.get("pytorch")) == (key, name, pytorch)


def test_without_pytorch_there_is_no_gpu_that_offers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    settings = _with_one_gpu(monkeypatch, "tensors")
    monkeypatch.setattr(importlib.metadata, "version", missing)
    found = discovery.find_gpus(settings)
    assert (found.devices, "pip install torch" in found.problem) == ((), True)


def test_what_was_found_is_remembered_until_something_changes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    looked: list[str] = []
    settings = dataclasses.replace(_with_one_gpu(monkeypatch, "off", looked), data_dir=tmp_path)
    first = discovery.find_gpus(settings)
    assert discovery.find_gpus(settings) == first
    assert len(looked) == 1
    assert discovery.find_gpus(settings, anew=True) == first
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert discovery.find_gpus(settings) == first
    assert len(looked) == 3
    kept = tmp_path / "gpus.json"
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "at": time.time() - 3601}))
    assert discovery.find_gpus(settings) == first
    kept.write_text("{")
    assert discovery.find_gpus(settings) == first
    assert len(looked) == 5


def _with_one_gpu(monkeypatch: pytest.MonkeyPatch, allowed: str, looked: list[str] | None = None) -> JudgeSettings:
    answer = json.dumps([{"name": "NVIDIA H200", "compute_capability": "9.0", "ordinal": 0}])

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        if looked is not None:
            looked.append(answer)
        return subprocess.CompletedProcess(command, 0, answer, "")

    monkeypatch.setattr(discovery.Path, "exists", lambda _: True)
    monkeypatch.setattr(subprocess, "run", run)
    return dataclasses.replace(JudgeSettings(data_dir=Path("/nonexistent")), pytorch=allowed)
