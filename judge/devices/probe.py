"""``python -m judge.devices.probe``: says, as JSON on standard output, what GPUs PyCUDA finds here.

A process of its own, since loading the driver leaves traces (threads, a context) that a server must not have. It
runs no submission, so what it says is believed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any


def describe_gpus() -> list[dict[str, Any]]:
    """One entry a GPU, in CUDA's order. Raises what PyCUDA raises, ImportError included."""
    import pycuda.driver as cuda

    cuda.init()
    driver = _driver_version()
    found = []
    for ordinal in range(cuda.Device.count()):
        device = cuda.Device(ordinal)
        attribute = device.get_attribute
        names = cuda.device_attribute
        major, minor = device.compute_capability()
        # Double data rate: two transfers a clock; the clock is in kHz, the bus in bits.
        peak = 2 * attribute(names.MEMORY_CLOCK_RATE) * 1e3 * attribute(names.GLOBAL_MEMORY_BUS_WIDTH) / 8
        found.append({
            "ordinal": ordinal,
            "pci_bus_id": device.pci_bus_id(),
            "name": device.name(),
            "compute_capability": f"{major}.{minor}",
            "multiprocessors": attribute(names.MULTIPROCESSOR_COUNT),
            "l2_bytes": attribute(names.L2_CACHE_SIZE),
            "memory_bytes": device.total_memory(),
            "memory_clock_khz": attribute(names.MEMORY_CLOCK_RATE),
            "clock_khz": attribute(names.CLOCK_RATE),
            "peak_bytes_per_s": peak,
            "driver": driver,
            "cuda_driver": cuda.get_driver_version(),
            **_nvml(device.pci_bus_id()),
        })  # fmt: skip
    return found


def _driver_version() -> str:
    try:
        with open("/proc/driver/nvidia/version") as file:  # noqa: PTH123 -- a line of procfs
            words = file.readline().split()
    except OSError:
        return ""
    return next((word for word in words if word[:1].isdigit() and "." in word), "")


def _nvml(pci_bus_id: str) -> dict[str, Any]:
    """What only NVML knows: the minor number of the device node, a hash of the UUID, the clocks it may reach. Empty
    without it.
    """
    try:
        import pynvml

        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByPciBusId(pci_bus_id.encode())
        uuid = pynvml.nvmlDeviceGetUUID(handle)
        return {
            "minor": pynvml.nvmlDeviceGetMinorNumber(handle),
            "uuid_hash": hashlib.sha256(str(uuid).encode()).hexdigest()[:16],
            "max_clock_mhz": pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM),
        }
    except Exception:
        # NVML is a convenience: CUDA works without it, and its errors are many.
        return {}


if __name__ == "__main__":
    json.dump(describe_gpus(), sys.stdout)
