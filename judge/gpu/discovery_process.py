"""``python -m judge.gpu.discovery_process``: prints, as JSON, the GPUs that PyCUDA finds here.

It is a process of its own, since loading the driver leaves threads and a context that a server must not have. It runs
no submission, so its output is trusted.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any


def describe_gpus() -> list[dict[str, Any]]:
    """Returns one entry for each GPU, in CUDA's order. Raises what PyCUDA raises, ImportError included."""
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
        found.append(
            {
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
            }
        )
    return found


def _driver_version() -> str:
    try:
        with open("/proc/driver/nvidia/version") as file:  # noqa: PTH123 -- a line of procfs
            words = file.readline().split()
    except OSError:
        return ""
    return next((word for word in words if word[:1].isdigit() and "." in word), "")


def _nvml(pci_bus_id: str) -> dict[str, Any]:
    """Returns the facts that only NVML knows: the device node's minor number, a hash of the UUID, the maximum clock."""
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
        # CUDA works without NVML, whose errors are of many types.
        return {}


if __name__ == "__main__":
    json.dump(describe_gpus(), sys.stdout)
