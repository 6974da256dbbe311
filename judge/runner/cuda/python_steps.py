"""Writes down what a submission in Python asks of the driver, in the form of ``judge/compile/recorder.cpp``."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from judge.runner.cuda.recording import Step
from judge.runner.triton.parameters import Parameters
from judge.wire.frames import Writer

#: The name of the only stream.
_STREAM = 0


class PythonSteps:
    """The steps so far, as ``data``. ``refused`` says why they are not all."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kernels = 0
        self.data = bytearray()
        self.refused = ""

    def allocate(self, address: int, size: int) -> None:
        self._add(Step.ALLOCATE, Writer().u64(address).u64(size).u32(0))

    def release(self, address: int) -> None:
        self._add(Step.RELEASE, Writer().u64(address))

    def kernel(self, name: str, parameters: Parameters) -> int:
        """Returns the number by which launches name the kernel."""
        self._kernels += 1
        payload = Writer().u32(self._kernels).u32(len(parameters.places))
        for offset, size in parameters.places:
            payload.u32(offset).u32(size)
        self._add(Step.KERNEL, payload.raw(name.encode()))
        return self._kernels

    def attribute(self, kernel: int, which: int, value: int) -> None:
        self._add(Step.ATTRIBUTE, Writer().u32(kernel).u32(which).raw(struct.pack("<i", value)))

    def launch(
        self, kernel: int, grid: Sequence[int], threads: int, shared: int, parameters: Parameters, stream: int = _STREAM
    ) -> None:
        if stream != _STREAM:
            self.refused = "work on streams of PyTorch is not recorded"
        payload = Writer().u32(kernel)
        for extent in (*grid, threads, 1, 1, shared, 0):
            payload.u32(extent)
        self._add(Step.LAUNCH, payload.u64(_STREAM).u32(0).raw(parameters.content()))

    def fill(self, address: int, size: int, byte: int) -> None:
        self._add(Step.FILL, Writer().u64(address).u64(size).u64(_STREAM).u32(byte))

    def copy(self, target: int, source: int, size: int) -> None:
        self._add(Step.COPY, Writer().u64(target).u64(source).u64(size).u64(_STREAM))

    def write(self, address: int, data: bytes) -> None:
        self._add(Step.WRITE, Writer().u64(address).u64(_STREAM).raw(data))

    def _add(self, step: Step, payload: Writer) -> None:
        made = payload.payload()
        if len(self.data) + len(made) + 8 > self._most_bytes:
            self.refused = "more than can be recorded"
            return
        self.data += struct.pack("<II", step, len(made)) + made
