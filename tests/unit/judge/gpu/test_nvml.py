import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from judge.gpu import nvml as module
from judge.gpu.nvml import GpuState, NvmlWatch, is_foreign, open_watch, watch_device
from judge.judgement import DeviceInfo


class NvmlError(Exception):
    pass


class FakeNvml(ModuleType):
    """As much of pynvml as is used; whatever is in ``broken`` fails."""

    NVMLError = NvmlError
    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU, nvmlEventTypeXidCriticalError = 1, 2, 0, 8

    def __init__(self) -> None:
        super().__init__("pynvml")
        self.broken: set[str] = set()
        self.reasons = 0
        self.pids: list[int] = []
        self.xids: list[int] = []
        self.opened = 0

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("nvml") and name[4].isupper() and name in object.__getattribute__(self, "broken"):
            return self._fail
        return object.__getattribute__(self, name)

    def _fail(self, *_: object) -> Any:
        raise NvmlError

    def nvmlInit(self) -> None:
        self.opened += 1

    def nvmlShutdown(self) -> None:
        self.opened -= 1

    def nvmlDeviceGetHandleByPciBusId(self, bus_id: bytes) -> str:
        if bus_id != b"0000:01:00.0":
            raise NvmlError
        return "handle"

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes) -> str:
        return f"handle of {uuid.decode()}"

    def nvmlEventSetCreate(self) -> str:
        return "events"

    def nvmlEventSetFree(self, _: str) -> None:
        pass

    def nvmlDeviceRegisterEvents(self, handle: str, kinds: int, events: str) -> None:
        assert (handle, kinds, events) == ("handle", 8, "events")

    def nvmlEventSetWait_v2(self, _: str, __: int) -> SimpleNamespace:
        if not self.xids:
            raise NvmlError
        return SimpleNamespace(eventData=self.xids.pop(0))

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _: str) -> int:
        return self.reasons

    def nvmlDeviceGetClockInfo(self, _: str, kind: int) -> int:
        return {1: 1980, 2: 3201}[kind]

    def nvmlDeviceGetTemperature(self, _: str, __: int) -> int:
        return 41

    def nvmlDeviceGetPowerUsage(self, _: str) -> int:
        return 123_400

    def nvmlDeviceGetUtilizationRates(self, _: str) -> SimpleNamespace:
        return SimpleNamespace(gpu=25)

    def nvmlDeviceGetMemoryInfo(self, _: str) -> SimpleNamespace:
        return SimpleNamespace(used=1 << 30)

    def nvmlDeviceGetComputeRunningProcesses(self, _: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid) for pid in self.pids]


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    module = FakeNvml()
    monkeypatch.setitem(sys.modules, "pynvml", module)
    return module


def test_a_sample_holds_what_nvml_says(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    nvml.xids = [79, 13]
    nvml.pids = [os.getpid(), os.getppid()]
    monkeypatch.setattr(module, "_has_gpu_open", lambda _: True)
    watch = NvmlWatch(nvml, "handle")
    assert watch.sample() == GpuState(
        1980, 3201, (), False, 41, 123.4, 0.25, 1 << 30, other_pids=(os.getppid(),), xids=(79, 13)
    )
    assert watch.sample().xids == ()


def test_a_brief_sample_leaves_the_xids_for_the_next_whole_one(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    nvml.xids = [79]
    nvml.pids = [os.getppid()]
    monkeypatch.setattr(module, "_has_gpu_open", lambda _: True)
    watch = NvmlWatch(nvml, "handle")
    assert watch.sample(brief=True) == GpuState(1980, 3201, (), False, 41, 123.4, other_pids=(os.getppid(),))
    assert watch.sample().xids == (79,)


@pytest.mark.parametrize(
    ("reasons", "words", "capped"),
    [
        (0x01 | 0x02 | 0x10 | 0x100, (), False),
        (0x04, (), True),
        (0x08 | 0x80, ("hardware slowdown", "power brake"), False),
        (0x20, ("software thermal slowdown",), False),
        (0x44, ("hardware thermal slowdown",), True),
    ],
)
def test_only_what_spoils_times_counts_as_throttled(
    nvml: FakeNvml, reasons: int, words: tuple[str, ...], capped: bool
) -> None:
    nvml.reasons = reasons
    state = NvmlWatch(nvml, "handle").sample()
    assert (state.throttled_by, state.throttled, state.power_capped) == (words, bool(words), capped)


def test_what_nvml_cannot_say_is_none(nvml: FakeNvml) -> None:
    nvml.broken = {name for name in dir(FakeNvml) if name.startswith(("nvmlDevice", "nvmlEventSet"))}
    assert NvmlWatch(nvml, "handle").sample() == GpuState()


def test_a_watch_is_found_by_bus_id_or_uuid(nvml: FakeNvml) -> None:
    gpu = DeviceInfo("gpu", "cuda", "GPU", "9.0", {"pci_bus_id": "0000:01:00.0"})
    watch = watch_device(gpu)
    assert watch is not None
    assert nvml.opened == 1
    watch.close()
    watch.close()
    assert nvml.opened == 0
    nvml.broken = {"nvmlDeviceRegisterEvents"}
    assert open_watch("GPU-1234") is not None


def test_no_watch_without_nvml_or_the_gpu(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_watch("0000:09:00.0") is None
    assert nvml.opened == 0
    assert watch_device(DeviceInfo("emulator", "emulator", "CPU", "8.0")) is None
    nvml.broken = {"nvmlInit"}
    assert open_watch("0000:01:00.0") is None
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert open_watch("0000:01:00.0") is None


def test_whose_process_it_is(tmp_path: Path) -> None:
    def process(pid: int, parent: int, cgroup: str = "/user.slice", opened: str = "/dev/nvidia0") -> None:
        folder = tmp_path / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "fd" / "5").symlink_to(opened)
        (folder / "stat").write_text(f"{pid} (a (b) c) S {parent} 1 1")
        (folder / "cgroup").write_text(f"0::{cgroup}\n")

    process(900_001, os.getpid())
    process(900_002, 900_001)
    process(900_003, 1)
    process(900_004, 900_003)
    process(900_005, 1, "/system.slice/gpujudge-0123456789abcdef.4026531836.77.12345")
    process(900_006, 1, "/system.slice/gpujudge-worker.service")
    process(900_007, 1, opened="/dev/null")
    assert not is_foreign(os.getpid(), tmp_path)
    assert not is_foreign(900_002, tmp_path)
    assert is_foreign(900_003, tmp_path)
    assert is_foreign(900_004, tmp_path)
    assert not is_foreign(900_005, tmp_path)
    assert is_foreign(900_006, tmp_path)
    assert not is_foreign(900_007, tmp_path)
    assert not is_foreign(900_008, tmp_path)
