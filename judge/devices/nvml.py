"""What NVML says of a GPU while it judges: clocks, why they are low, heat, power, whoever else uses it, its faults.

Read only: nothing of a GPU's settings is ever changed. NVML may be missing altogether (``open_watch`` returns None
then), and may know only some of it: each reading is None where it cannot be had. Asking takes time and wakes the
driver, so it belongs between timed calls and not within them.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from judge.judgement import DeviceInfo

#: From nvml.h. What is left out (idle, application clocks, synchronised boost, the display) is nothing to worry about.
_THROTTLE = {
    0x08: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}
_POWER_CAP = 0x04
#: The group of a jail (``judge.sandbox.cgroup``), in /proc/PID/cgroup.
_JAIL = re.compile(r"/gpujudge-[0-9a-f]{16}(/|$)", re.MULTILINE)
#: As many faults as one sample tells of.
_MAX_XIDS = 64

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GpuState:
    """One reading. ``throttled_by`` names what makes times worthless; being held to the power limit is a property of
    the board and is only told (``power_capped``). ``other_pids`` are compute processes that this process did not
    start and no jail of the judge holds, as far as they can be seen from here. ``xids`` are the driver's fault reports
    since the sample before.
    """

    sm_mhz: int | None = None
    memory_mhz: int | None = None
    throttled_by: tuple[str, ...] = ()
    power_capped: bool | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    utilisation: float | None = None
    memory_used_bytes: int | None = None
    other_pids: tuple[int, ...] = ()
    xids: tuple[int, ...] = ()

    @property
    def throttled(self) -> bool:
        """Whether times taken around now are to be dropped."""
        return bool(self.throttled_by)


class GpuWatch(Protocol):
    """Looks at one GPU. Used by one thread at a time; two watches of one GPU do not take each other's Xids."""

    def sample(self) -> GpuState:
        """What can be read now; never raises."""

    def close(self) -> None:
        """Idempotent."""


class NvmlWatch:
    """``GpuWatch`` over pynvml. ``nvml`` is that module."""

    def __init__(self, nvml: Any, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle
        self._events: Any = None
        events = self._ask(nvml.nvmlEventSetCreate)
        if events is not None:
            try:
                nvml.nvmlDeviceRegisterEvents(handle, nvml.nvmlEventTypeXidCriticalError, events)
                self._events = events
            except nvml.NVMLError:
                self._ask(lambda: nvml.nvmlEventSetFree(events))

    def sample(self) -> GpuState:
        nvml, handle = self._nvml, self._handle
        reasons = self._ask(lambda: int(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)))
        milliwatts = self._ask(lambda: float(nvml.nvmlDeviceGetPowerUsage(handle)))
        return GpuState(
            sm_mhz=self._ask(lambda: int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))),
            memory_mhz=self._ask(lambda: int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM))),
            throttled_by=tuple(word for bit, word in _THROTTLE.items() if (reasons or 0) & bit),
            power_capped=None if reasons is None else bool(reasons & _POWER_CAP),
            temperature_c=self._ask(lambda: int(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))),
            power_w=None if milliwatts is None else milliwatts / 1e3,
            utilisation=self._ask(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100),
            memory_used_bytes=self._ask(lambda: int(nvml.nvmlDeviceGetMemoryInfo(handle).used)),
            other_pids=self._others(),
            xids=self._take_xids(),
        )

    def close(self) -> None:
        nvml, self._nvml = self._nvml, None
        if nvml is None:
            return
        if self._events is not None:
            with contextlib.suppress(nvml.NVMLError):
                nvml.nvmlEventSetFree(self._events)
        with contextlib.suppress(nvml.NVMLError):
            nvml.nvmlShutdown()

    def _others(self) -> tuple[int, ...]:
        running = self._ask(lambda: self._nvml.nvmlDeviceGetComputeRunningProcesses(self._handle)) or ()
        return tuple(sorted({int(one.pid) for one in running if is_foreign(int(one.pid))}))

    def _take_xids(self) -> tuple[int, ...]:
        seen: list[int] = []
        while self._events is not None and len(seen) < _MAX_XIDS:
            try:
                event = self._nvml.nvmlEventSetWait_v2(self._events, 0)
            except self._nvml.NVMLError:  # a timeout: there are no more
                break
            seen.append(int(event.eventData))
        return tuple(seen)

    def _ask(self, question: Callable[[], T]) -> T | None:
        try:
            return question()
        except (self._nvml.NVMLError, AttributeError):  # an older binding has not every function
            return None


def open_watch(identity: str) -> GpuWatch | None:
    """Of the GPU with this UUID (``GPU-…``) or PCI bus id. None without NVML, or where it does not know that GPU."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        by_uuid = identity.startswith(("GPU-", "MIG-"))
        find = pynvml.nvmlDeviceGetHandleByUUID if by_uuid else pynvml.nvmlDeviceGetHandleByPciBusId
        return NvmlWatch(pynvml, find(identity.encode()))
    except pynvml.NVMLError:
        pynvml.nvmlShutdown()
        return None


def watch_device(device: DeviceInfo) -> GpuWatch | None:
    """Of a device as the catalogue describes it; None for the emulator, and without NVML."""
    bus_id = device.details.get("pci_bus_id")
    return open_watch(str(bus_id)) if device.kind == "cuda" and bus_id else None


def is_foreign(pid: int, proc: Path = Path("/proc")) -> bool:
    """Whether this process did not start ``pid``, directly or not, and it sits in no jail of the judge.

    A process that cannot be seen from here (NVML may count in another process namespace) might be a runner of ours, and
    one that is seen and has no GPU open only happens to have that number here: nothing is said against either.
    """
    parent = pid
    while parent > 1:
        if parent == os.getpid():
            return False
        try:
            if parent == pid and _JAIL.search((proc / str(pid) / "cgroup").read_text()):
                return False
            # The name, in parentheses, may hold anything; the state and the parent follow it.
            parent = int((proc / str(parent) / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return parent != pid and _has_gpu_open(proc / str(pid) / "fd")
    return _has_gpu_open(proc / str(pid) / "fd")


def _has_gpu_open(descriptors: Path) -> bool:
    """Also true where it cannot be seen: another user's process."""
    try:
        return any(str(link.readlink()).startswith("/dev/nvidia") for link in descriptors.iterdir())
    except OSError:
        return True
