from __future__ import annotations

from typing import cast

import pytest

from emulator import CudaError, Runtime
from judge.runner.device import Buffer, DeviceError
from judge.runner.emulator import EmulatorDevice


class _FreedRuntime:
    """A runtime whose submission freed everything."""

    has_reset = False

    def view(self, ptr: int, size: int) -> memoryview:
        raise ValueError(f"{ptr:#x}..{ptr + size:#x} is not inside one allocation")

    def free(self, ptr: int) -> None:
        raise CudaError(1, "cudaErrorInvalidValue", f"no allocation begins at {ptr:#x}")


@pytest.mark.parametrize("use", ["read", "write", "fill", "free"])
def test_a_buffer_that_the_submission_freed_is_an_error_of_the_device_not_of_the_judge(use: str) -> None:
    device = EmulatorDevice(lambda **_: cast(Runtime, _FreedRuntime()), threads=1)
    arguments = {"read": (memoryview(bytearray(8)),), "write": (memoryview(bytes(8)),), "fill": (0,), "free": ()}
    with pytest.raises(DeviceError):
        getattr(device, use)(Buffer(0x1000, 8, 0x1000), *arguments[use])
