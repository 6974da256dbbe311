"""The device itself: memory that the host sees, and the cheap import."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from emulator import CudaError, Report, Runtime
from emulator.model import gpu_names, load_gpu
from tests.emulated_device import Device


def test_importing_the_package_loads_neither_llvm_nor_numpy() -> None:
    code = "import emulator, sys; print([name for name in ('llvmlite', 'numpy', 'zstandard') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_memory_is_zeroed_aligned_and_writable(device: Device) -> None:
    first, second = device.runtime.malloc(1000), device.runtime.malloc(5 << 20)
    for pointer, size in ((first, 1000), (second, 5 << 20)):
        assert pointer % 256 == 0
        view = device.runtime.view(pointer, size)
        assert bytes(view[:100]) == bytes(100)
        view[-1] = 7
        assert device.runtime.view(pointer + size - 1, 1)[0] == 7
        device.runtime.free(pointer)


def test_only_live_memory_can_be_seen_or_freed(device: Device) -> None:
    pointer = device.runtime.malloc(1000)
    with pytest.raises(ValueError, match="not inside one allocation"):
        device.runtime.view(pointer, 1001)
    with pytest.raises(CudaError, match="no allocation begins at"):
        device.runtime.free(pointer + 256)
    device.runtime.free(pointer)
    with pytest.raises(CudaError):
        device.runtime.free(pointer)
    with pytest.raises(ValueError, match="not inside one allocation"):
        device.runtime.view(pointer, 1)


def test_addresses_can_be_used_again_and_again(device: Device) -> None:
    for _ in range(3000):
        device.runtime.free(device.runtime.malloc(8 << 30 if _ % 2 else 100))


def test_a_report_is_taken_once(device: Device) -> None:
    assert device.runtime.take_report() == Report()
    assert device.runtime.last_error() == 0
    device.runtime.synchronize()


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("name", gpu_names())
def test_programs_see_the_size_and_speed_of_the_gpu_whose_times_are_modelled(library: Path, name: str) -> None:
    gpu = load_gpu(name)
    runtime = Runtime(library=library, threads=2, gpu=gpu)
    asked = ctypes.c_int()
    answers = []
    for attribute in (16, 13, 38, 36, 37):  # multiprocessors, clock, L2; the memory's clock and the width of its bus
        assert runtime.library.cudaDeviceGetAttribute(ctypes.byref(asked), attribute, 0) == 0
        answers.append(asked.value)
    assert answers[:3] == [gpu.multiprocessors, round(gpu.clock_hz / 1e3), gpu.memory.l2_bytes]
    major, minor = map(int, gpu.compute_capability.split("."))
    shared = gpu.limits.shared_bytes
    told = {75: major, 76: minor, 37: gpu.memory.bus_bits, 39: gpu.limits.threads, 106: gpu.limits.blocks, 81: shared}
    told |= {97: shared - gpu.limits.reserved_shared_bytes, 111: gpu.limits.reserved_shared_bytes}
    for attribute, expected in told.items():
        assert runtime.library.cudaDeviceGetAttribute(ctypes.byref(asked), attribute, 0) == 0
        assert asked.value == expected, attribute
    assert 2 * 1e3 * answers[3] * answers[4] / 8 == pytest.approx(gpu.memory.dram_peak_bytes_per_s, rel=1e-5)
