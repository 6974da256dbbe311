"""The limit of a device's memory."""

from __future__ import annotations

import ctypes

import pytest

from emulator import CudaError
from tests.emulated_device import Device


def _in_use(device: Device) -> int:
    """The bytes that earlier tests in this process keep: kernels with scratch memory of their own, say."""
    device.limit(memory_bytes=1 << 30)
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert device.runtime.library.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total)) == 0
    return total.value - free.value


def test_memory(device: Device) -> None:
    device.limit(memory_bytes=_in_use(device) + (1 << 20))
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
