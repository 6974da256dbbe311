"""The CUDA runtime's functions as a program calls them; the program says the line that went wrong."""

from __future__ import annotations

import ctypes

import pytest

from emulator import CudaError
from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import Build

pytestmark = pytest.mark.nvcc


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    "part", ["devices", "symbols", "memory", "rows", "extents", "streams", "configurations", "graphs", "refused"]
)
def test_a_part_of_the_api(build: Build, part: str) -> None:
    program = build("api")
    program.cudaGetLastError()

    assert getattr(program, part)() == 0, f"api.cu, {part}: the line that it returned"


def test_a_refused_function_is_named_in_the_report(device: Device, build: Build) -> None:
    build("api").refused()

    assert device.runtime.take_report().unsupported == "cudaIpcGetMemHandle"


def test_sticky_errors_fail_every_later_call(device: Device, build: Build) -> None:
    build("faults").run_store(ctypes.c_void_p(0))

    assert build("api").after_a_sticky_error(700) == 0
    for _ in range(2):
        with pytest.raises(CudaError) as caught:
            device.runtime.synchronize()
        assert (caught.value.code, caught.value.name) == (700, "cudaErrorIllegalAddress")
    device.runtime.clear_errors()
    device.runtime.synchronize()


def test_an_error_nobody_asked_about_is_raised_once(device: Device, build: Build) -> None:
    build("faults").run_shared_past(ctypes.c_void_p(0), 1025)

    with pytest.raises(CudaError) as caught:
        device.runtime.synchronize()
    assert caught.value.name == "cudaErrorInvalidConfiguration"
    device.runtime.synchronize()
