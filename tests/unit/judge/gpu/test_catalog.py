from pathlib import Path

import pytest

from judge.gpu import catalog
from judge.settings import JudgeSettings


def test_keys_are_slugs_of_the_model() -> None:
    assert catalog.device_key("NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3"
    assert catalog.device_key("Tesla T4 (rev. 2)") == "tesla-t4-rev-2"


def test_without_a_driver_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog.Path, "exists", lambda _: False)
    assert catalog.probe_cuda(JudgeSettings(data_dir=Path("/nonexistent"))).problem == "no NVIDIA driver is loaded"
