"""Loading a submission in Triton: a device that refuses its kernels makes a message, and does not end the runner."""

from __future__ import annotations

import os
from typing import Any, cast

import pytest

from judge.runner.device import DeviceError, LaunchingDevice
from judge.runner.submission import LoadError
from judge.runner.triton.program import load_program
from judge.wire.python_program import CompiledKernel, PythonProgram, pack_program

PROGRAM = pack_program(
    PythonProgram(b"def solve(): ...\n", 90, (CompiledKernel("k", "add", 4, 0, 0, 1, (), b"\x7fELF"),))
)


class RefusingDevice:
    pytorch = None

    def __init__(self, error: Exception) -> None:
        self._error = error

    def scratch_memory(self) -> None: ...

    def start_kernel(self, *_: Any) -> None: ...

    def load_kernels(self, program: PythonProgram) -> None:
        assert program.kernels[0].name == "add"
        raise self._error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (DeviceError(209, "cudaErrorNoKernelImageForDevice", "no kernel image is available"), "no kernel image"),
        (TypeError("a number of the type fp16 cannot be passed by value"), "type fp16"),
    ],
)
def test_kernels_that_a_device_does_not_take(error: Exception, told: str) -> None:
    fd = os.memfd_create("program")
    try:
        os.write(fd, PROGRAM)
        with pytest.raises(LoadError, match=f"its kernels are not taken: .*{told}"):
            load_program(fd, (), cast(LaunchingDevice, RefusingDevice(error)))
    finally:
        os.close(fd)
