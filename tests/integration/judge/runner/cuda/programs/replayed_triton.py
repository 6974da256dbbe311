"""Records two calls of a Triton submission on the driver's API, and replays the second on buffers of its own.

The arguments are the artifact's library and, for each kernel of it, the sizes of its parameters: the emulator's driver
does not tell them.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from judge.runner.cuda.driver import Driver
from judge.runner.cuda.python_kernels import PythonKernels, PythonMemory
from judge.runner.cuda.python_steps import PythonSteps
from judge.runner.cuda.recording import RawRecording
from judge.runner.cuda.recording_reader import read_recording
from judge.runner.cuda.replay import CudaReplay
from judge.runner.triton.program import load_program
from judge.wire.elements import Element
from judge.wire.frames import Role
from judge.wire.messages import ArgumentSpec
from judge.wire.python_program import CompiledKernel, PythonProgram

COUNT, GUARD = 1000, 256
LIBRARY, SIZES = Path(sys.argv[1]).read_bytes(), json.loads(sys.argv[2])


class TellingDriver(Driver):
    """The emulator's driver, which also tells where a kernel's parameters lie."""

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[int, str] = {}

    def function(self, name: str) -> Callable[..., int]:
        if name == "cuFuncGetParamInfo":
            return self._parameter
        found = super().function(name)
        if name != "cuModuleGetFunction":
            return found

        def find(function: Any, module: Any, name: bytes) -> int:
            code = found(function, module, name)
            self._names[function._obj.value] = name.decode()
            return code

        return find

    def _parameter(self, function: c_void_p, index: c_size_t, offset: Any, size: Any) -> int:
        sizes = SIZES[self._names[function.value or 0]]
        if index.value >= len(sizes):
            return 1
        end = 0
        for each in sizes[: index.value + 1]:
            begin = -(-end // each) * each
            end = begin + each
        offset._obj.value, size._obj.value = begin, each
        return 0


class RecordedDevice:
    """The part of a GPU's device that launches, with a recorder."""

    pytorch = None

    def __init__(self, driver: Driver, steps: PythonSteps) -> None:
        self._kernels, self._memory = PythonKernels(driver, steps), PythonMemory(driver, steps)

    def scratch_memory(self) -> PythonMemory:
        return self._memory

    def load_kernels(self, program: PythonProgram) -> None:
        self._kernels.load(program)

    def start_kernel(self, kernel: CompiledKernel, grid: tuple[int, int, int], given: Sequence[int | float]) -> None:
        size = kernel.scratch * math.prod(grid)
        scratch = self._memory.allocate(size) if size else 0
        self._kernels.start(kernel, grid, given, scratch)
        if size:
            self._memory.free(scratch, size)


def allocate(driver: Driver, values: np.ndarray) -> int:
    address = c_uint64()
    driver.call("cuMemAlloc_v2", byref(address), c_size_t(values.nbytes))
    driver.call("cuMemcpyHtoD_v2", address, c_void_p(values.ctypes.data), c_size_t(values.nbytes))
    return address.value


def fetch(driver: Driver, address: int) -> np.ndarray:
    values = np.zeros(COUNT, np.float32)
    driver.call("cuMemcpyDtoH_v2", c_void_p(values.ctypes.data), c_uint64(address), c_size_t(values.nbytes))
    return values


driver = TellingDriver()
context = c_void_p()
driver.call("cuInit", c_int(0))
driver.call("cuDevicePrimaryCtxRetain", byref(context), c_int(0))
driver.call("cuCtxSetCurrent", context)

steps = PythonSteps(1 << 20)
fd = os.memfd_create("library")
os.write(fd, LIBRARY)
arguments = [ArgumentSpec(name, Role.INOUT, Element.FLOAT32) for name in "ABC"]
arguments.append(ArgumentSpec("N", Role.SCALAR, Element.INT32))
submission = load_program(fd, arguments, RecordedDevice(driver, steps))  # type: ignore[arg-type]
floats = np.arange(COUNT, dtype=np.float32)
addresses = [allocate(driver, floats), allocate(driver, 2 * floats), allocate(driver, 0 * floats)]
scalar = COUNT.to_bytes(8, "little")
shapes = [(COUNT,)] * 3 + [()]
for _ in range(2):
    begin = len(steps.data)
    submission.call(submission.bind([*addresses, scalar], shapes))
raw = RawRecording(
    tuple((address, floats.nbytes) for address in addresses), begin, len(steps.data), steps.refused, bytes(steps.data)
)
recording = read_recording(RawRecording.unpack(raw.pack()), (*addresses, 0), GUARD)

replay = CudaReplay(driver, recording, LIBRARY)
others = [allocate(driver, floats + 5), allocate(driver, floats * floats), allocate(driver, 0 * floats)]
replay.call(replay.bind([*others, scalar]))
driver.call("cuCtxSynchronize")
wanted = (floats + 5) + floats * floats + 1.5
print(
    json.dumps(
        {
            "first": bool((fetch(driver, addresses[2]) == 3 * floats + 1.5).all()),
            "replayed": bool((fetch(driver, others[2]) == wanted).all()),
            "error": replay.take_error()[0],
            "operations": len(recording.call),
            "scratch": list(recording.scratch),
        }
    )
)
