"""The device itself: memory that the host sees, and the cheap import."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from emulator import CudaError, Report
from tests.unit.emulator.runtime.conftest import Build, Device


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


@pytest.mark.nvcc
def test_a_shield_leaves_the_runtime_api_and_shared_memory_to_host_code(device: Device, build: Build) -> None:
    program = build("shield")
    out, values = device.array(2)
    with device.runtime.shielded():
        program.allowed(out)
    device.runtime.synchronize()
    assert values.tolist() == [10 + 6 + 7, 20 + 6 + 7 + 1]


@pytest.mark.nvcc
@pytest.mark.parametrize("function", ["dereferences", "dereferences_its_own"])
def test_a_shield_keeps_host_code_from_device_memory(function: str, library: Path, build: Build) -> None:
    code = f"""
import ctypes, pathlib, resource
from emulator import Runtime
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
runtime = Runtime(library=pathlib.Path({str(library)!r}), threads=1)
program = ctypes.CDLL({build("shield")._name!r})
out = ctypes.c_void_p(runtime.malloc(8))
program.{function}(out)
print("as it likes", flush=True)
with runtime.shielded():
    program.{function}(out)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "as it likes\n"), done
