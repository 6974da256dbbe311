"""The limit of a device's memory."""

from __future__ import annotations

import pytest

from emulator import CudaError
from tests.emulated_device import Device


def test_memory(device: Device) -> None:
    device.limit(memory_bytes=1 << 20)
    pointer = device.runtime.malloc(1 << 19)

    with pytest.raises(CudaError) as caught:
        device.runtime.malloc((1 << 19) + 1)
    assert (caught.value.code, caught.value.name) == (2, "cudaErrorMemoryAllocation")
    assert device.runtime.take_report().limit == "memory"
    device.runtime.free(pointer)
    device.runtime.free(device.runtime.malloc(1 << 20))
    assert device.runtime.take_report().limit is None


def test_more_memory_than_the_machine_has_is_no_limit_of_ours(device: Device) -> None:
    with pytest.raises(CudaError):
        device.runtime.malloc(1 << 46)
    assert device.runtime.take_report().limit is None
