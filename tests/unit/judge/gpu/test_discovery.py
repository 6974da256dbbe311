from pathlib import Path

import pytest

from judge.gpu import discovery
from judge.settings import JudgeSettings


def test_keys_are_slugs_of_the_model() -> None:
    assert discovery.device_key("NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3"
    assert discovery.device_key("Tesla T4 (rev. 2)") == "tesla-t4-rev-2"


def test_without_a_driver_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery.Path, "exists", lambda _: False)
    assert discovery.find_gpus(JudgeSettings(data_dir=Path("/nonexistent"))).problem == "no NVIDIA driver is loaded"
