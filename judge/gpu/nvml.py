"""Reads a GPU's state from NVML: clocks, throttling, temperature, power, other users, faults.

Never changes a setting of the GPU. Without NVML ``open_watch`` returns None; a reading that NVML does not offer is
None. A reading takes time and wakes the driver, so it belongs between timed calls, never inside one.
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

#: From nvml.h, without the reasons that do no harm: idle, application clocks, synchronised boost, the display.
_THROTTLE = {
    0x08: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}
_POWER_CAP = 0x04
#: The cgroup of a jail (``judge.sandbox.cgroup``), in /proc/PID/cgroup.
_JAIL = re.compile(r"/gpujudge-[0-9a-f]{16}(\.[0-9.]+)?(/|$)", re.MULTILINE)
#: The most Xids that one reading reports.
_MAX_XIDS = 64

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GpuState:
    """One reading of a GPU.

    ``throttled_by`` names what makes times worthless. A power cap is a property of the board and only reported
    (``power_capped``). ``other_pids`` are compute processes that neither this process nor a jail of the judge started,
    as far as they are visible from here. ``xids`` are the driver's fault reports since the previous reading.
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
        """Whether times measured around this reading are to be dropped."""
        return bool(self.throttled_by)


class GpuWatch(Protocol):
    """Reads the state of one GPU, in one thread at a time. Two watches do not take each other's Xids."""

    def sample(self, *, brief: bool = False) -> GpuState:
        """Returns the readable state now; never raises. ``brief`` leaves out load, memory and Xids, which take long."""

    def close(self) -> None:
        """Idempotent."""


class NvmlWatch:
    """Reads the state through pynvml, the module passed as ``nvml``."""

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

    def sample(self, *, brief: bool = False) -> GpuState:
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
            utilisation=None if brief else self._ask(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100),
            memory_used_bytes=None if brief else self._ask(lambda: int(nvml.nvmlDeviceGetMemoryInfo(handle).used)),
            other_pids=self._others(),
            xids=() if brief else self._take_xids(),
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
    """Returns the watch of the GPU with this UUID (``GPU-...``) or PCI bus id.

    Returns None without NVML, and where NVML does not know that GPU.
    """
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
    """Returns the watch of a GPU that was found; None without a PCI bus id, and without NVML."""
    bus_id = device.details.get("pci_bus_id")
    return open_watch(str(bus_id)) if bus_id else None


def is_foreign(pid: int, proc: Path = Path("/proc")) -> bool:
    """Returns whether ``pid`` is neither a descendant of this process nor in a jail of the judge.

    A process that is not visible from here may be a runner of ours, since NVML may count in another process namespace.
    A visible process that has no GPU open only happens to have that number here. Neither counts as foreign.
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
    """Returns whether the process has a GPU open; also true for another user's process, which nobody can tell."""
    try:
        return any(str(link.readlink()).startswith("/dev/nvidia") for link in descriptors.iterdir())
    except OSError:
        return True
