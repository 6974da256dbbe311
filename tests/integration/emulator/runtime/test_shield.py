"""Device memory that host code cannot reach while the device is shielded."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import Build

pytestmark = pytest.mark.nvcc


def test_a_shield_leaves_the_runtime_api_and_shared_memory_to_host_code(device: Device, build: Build) -> None:
    program = build("shield")
    out, values = device.array(2)
    with device.runtime.shielded():
        program.allowed(out)
    device.runtime.synchronize()
    assert values.tolist() == [10 + 6 + 7, 20 + 6 + 7 + 1]


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
