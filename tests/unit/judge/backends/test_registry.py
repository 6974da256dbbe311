"""Backends are looked up by their kind, and devices by the names that users type."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from judge.backends.cuda.backend import CudaBackend
from judge.backends.registry import BUILTIN_BACKENDS, UnknownDevice, UnknownKind
from judge.errors import Cancelled
from judge.gpu import discovery
from judge.judgement import DeviceInfo
from judge.kinds import KINDS, check_kind
from judge.settings import JudgeSettings

SETTINGS = JudgeSettings(data_dir=Path("/nonexistent"))
GPUS = tuple(DeviceInfo("nvidia-h200", "cuda", "NVIDIA H200", "9.0", {"ordinal": ordinal}) for ordinal in range(2))
find_device = BUILTIN_BACKENDS.find_device


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "find_gpus", lambda _, **__: discovery.FoundGpus(GPUS, ""))


def test_every_registered_kind_has_the_backend_of_its_name() -> None:
    assert [backend.kind for backend in BUILTIN_BACKENDS] == list(KINDS)


def test_an_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(UnknownKind, match="'abacus' is not a kind of device; the kinds are: emulator, cuda"):
        BUILTIN_BACKENDS.of("abacus")
    with pytest.raises(ValueError, match="'abacus'"):
        check_kind("abacus")


def test_one_more_backend_leaves_the_built_in_ones_alone() -> None:
    class Abacus(CudaBackend):
        kind = "abacus"

    more = BUILTIN_BACKENDS.with_backend(Abacus())
    assert [backend.kind for backend in more] == [*KINDS, "abacus"]
    assert [backend.kind for backend in BUILTIN_BACKENDS] == list(KINDS)


def test_the_emulator_is_everywhere_and_says_what_it_runs_on() -> None:
    device = find_device("emulator", dataclasses.replace(SETTINGS, emulator_threads=3))
    assert (device.kind, device.details["threads"]) == ("emulator", 3)
    assert device.details["cpu"]


def test_whoever_wants_the_emulator_does_not_wait_for_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "find_gpus", lambda _: pytest.fail("GPUs were looked for"))
    assert find_device("emulator", SETTINGS).key == "emulator"


@pytest.mark.usefixtures("two_gpus")
def test_gpus_are_found_by_key_and_by_number() -> None:
    assert find_device("nvidia-h200", SETTINGS) == GPUS[0]
    assert find_device("cuda", SETTINGS) == GPUS[0]
    assert find_device("cuda:1", SETTINGS) == GPUS[1]
    found = BUILTIN_BACKENDS.list_devices(SETTINGS)
    assert [device.key for device in found] == ["emulator", "nvidia-h200", "nvidia-h200"]
    assert [BUILTIN_BACKENDS.selector(device) for device in found] == ["emulator", "cuda:0", "cuda:1"]


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize(
    ("name", "near"), [("emulatr", "emulator"), ("nvidia-h100", "nvidia-h200"), ("cuda:7", "cuda:0")]
)
def test_an_unknown_device_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UnknownDevice) as caught:
        find_device(name, SETTINGS)
    assert near in caught.value.nearest
    assert f"'{name}'" in str(caught.value)


def test_without_a_driver_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery.Path, "exists", lambda _: False)
    with pytest.raises(UnknownDevice, match="no NVIDIA driver"):
        find_device("cuda:0", SETTINGS)


def test_a_gpu_judges_one_submission_at_a_time_and_the_emulator_any_number(tmp_path: Path) -> None:
    settings = JudgeSettings(data_dir=tmp_path)
    emulator = find_device("emulator", settings)
    hold = BUILTIN_BACKENDS.of("emulator").hold
    with hold(emulator, settings), hold(emulator, settings):
        pass
    hold = BUILTIN_BACKENDS.of("cuda").hold
    with hold(GPUS[0], settings):
        with pytest.raises(Cancelled), hold(GPUS[0], settings, cancelled=lambda: True):
            pytest.fail("held twice")
        with hold(GPUS[1], settings):
            pass


def test_how_many_runners_wait() -> None:
    def gpu(memory_gib: int) -> DeviceInfo:
        return DeviceInfo("gpu", "cuda", "GPU", "9.0", {"memory_bytes": memory_gib << 30})

    warm_runners = BUILTIN_BACKENDS.of("cuda").warm_runners
    assert [warm_runners(gpu(memory)) for memory in (6, 8, 16, 24, 141)] == [0, 1, 2, 3, 5]
    assert BUILTIN_BACKENDS.of("emulator").warm_runners(find_device("emulator", SETTINGS)) == 2
