import dataclasses
from pathlib import Path

import pytest

from judge.devices import catalog
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

SETTINGS = JudgeSettings(data_dir=Path("/nonexistent"))
GPUS = tuple(DeviceInfo("nvidia-h200", "cuda", "NVIDIA H200", "9.0", {"ordinal": ordinal}) for ordinal in range(2))


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "probe_cuda", lambda _: catalog.CudaProbe(GPUS, ""))


def test_keys_are_slugs_of_the_model() -> None:
    assert catalog.device_key("NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3"
    assert catalog.device_key("Tesla T4 (rev. 2)") == "tesla-t4-rev-2"


def test_the_emulator_is_everywhere_and_says_what_it_runs_on() -> None:
    device = catalog.find_device("emulator", dataclasses.replace(SETTINGS, emulator_threads=3))
    assert (device.kind, device.details["threads"]) == ("emulator", 3)
    assert device.details["cpu"]


@pytest.mark.usefixtures("two_gpus")
def test_gpus_are_found_by_key_and_by_number() -> None:
    assert catalog.find_device("nvidia-h200", SETTINGS) == GPUS[0]
    assert catalog.find_device("cuda", SETTINGS) == GPUS[0]
    assert catalog.find_device("cuda:1", SETTINGS) == GPUS[1]
    assert [device.key for device in catalog.list_devices(SETTINGS)] == ["emulator", "nvidia-h200", "nvidia-h200"]


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize(
    ("name", "near"), [("emulatr", "emulator"), ("nvidia-h100", "nvidia-h200"), ("cuda:7", "cuda:0")]
)
def test_an_unknown_device_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(catalog.UnknownDevice) as caught:
        catalog.find_device(name, SETTINGS)
    assert near in caught.value.nearest
    assert f"'{name}'" in str(caught.value)


def test_without_a_driver_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog.Path, "exists", lambda _: False)
    assert catalog.probe_cuda(SETTINGS).problem == "no NVIDIA driver is loaded"
    with pytest.raises(catalog.UnknownDevice, match="no NVIDIA driver"):
        catalog.find_device("cuda:0", SETTINGS)
