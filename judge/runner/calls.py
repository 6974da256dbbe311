"""Calls whose outputs are judged: PREPARE, RUN and FETCH, with inputs and outputs in the shared memories."""

from __future__ import annotations

import ctypes
import mmap

from judge.runner.device import Buffer, Device, DeviceError
from judge.runner.memory import SharedMemory, same_bytes
from judge.runner.refusal import device_errors
from judge.runner.submission import Program
from judge.wire.frames import FrameError, Role
from judge.wire.messages import ArgumentSpec, FetchReply, PrepareRequest, RunReply, Slot

_libc = ctypes.CDLL(None)


class JudgedCalls:
    """Makes judged calls. Buffers are kept from call to call as long as their sizes stay the same."""

    def __init__(
        self, device: Device, inputs: SharedMemory, outputs: SharedMemory, arguments: tuple[ArgumentSpec, ...]
    ) -> None:
        self._device = device
        self._inputs = inputs
        self._outputs = outputs
        self._arguments = arguments
        self._slots: tuple[Slot, ...] = ()
        self._buffers: list[Buffer | None] = []
        self._scratch: mmap.mmap | None = None

    def prepare(self, request: PrepareRequest) -> bytes:
        if len(request.slots) != len(self._arguments):
            raise FrameError("a call with another number of arguments")
        self._slots = request.slots
        with device_errors():
            self._place_buffers()
            for argument, slot, buffer in zip(self._arguments, self._slots, self._buffers, strict=True):
                if buffer is None:
                    continue
                if argument.role is Role.OUT:
                    self._device.fill(buffer, slot.fill)
                else:
                    self._device.write(buffer, self._inputs.piece(slot.input_offset, slot.size))
            self._device.watch(request.watch, request.schedule_seed)
            self._device.settle()
            self._device.take_report()
        return b""

    def run(self, submission: Program) -> bytes:
        if len(self._buffers) != len(self._arguments):
            raise FrameError("nothing is prepared")
        values = [slot.value if b is None else b.address for slot, b in zip(self._slots, self._buffers, strict=True)]
        bound = submission.bind(values, [slot.shape for slot in self._slots])
        reply = RunReply(-1.0, 0, "", "")
        try:
            elapsed_s = self._device.time_call(lambda: submission.call(bound))
            reply = RunReply(elapsed_s, *submission.take_error())
        except DeviceError as error:
            reply = RunReply(-1.0, error.code, error.name, error.message)
        # The submission's output belongs to this call; _exit would lose what is still buffered.
        _libc.fflush(None)
        return reply.pack()

    def fetch(self) -> bytes:
        damage = []
        with device_errors():
            for argument, slot, buffer in zip(self._arguments, self._slots, self._buffers, strict=True):
                flags = 0
                if buffer is not None:
                    flags = self._device.damage(buffer)
                    if argument.role is Role.IN:
                        flags |= 0 if self._is_unchanged(buffer, slot) else 4
                    elif argument.role is not Role.SPENT:
                        self._device.read(buffer, self._outputs.piece(slot.output_offset, slot.size))
                damage.append(flags)
            report = self._device.take_report()
        return FetchReply(tuple(damage), report).pack()

    def addresses(self) -> tuple[int, ...]:
        """Returns the addresses of the buffers, 0 for scalars."""
        return tuple(0 if buffer is None else buffer.address for buffer in self._buffers)

    def release(self) -> None:
        """Frees the buffers, so that others have the device's memory."""
        buffers, self._buffers = self._buffers, []
        for buffer in buffers:
            if buffer is not None:
                self._device.free(buffer)

    def _place_buffers(self) -> None:
        wanted = [
            -1 if argument.role is Role.SCALAR else slot.size
            for argument, slot in zip(self._arguments, self._slots, strict=True)
        ]
        if wanted == [-1 if buffer is None else buffer.size for buffer in self._buffers]:
            return
        self.release()
        for argument, size in zip(self._arguments, wanted, strict=True):
            self._buffers.append(None if size < 0 else self._device.allocate(size, argument.name))

    def _is_unchanged(self, buffer: Buffer, slot: Slot) -> bool:
        if not slot.size:
            return True
        if self._scratch is None or len(self._scratch) < slot.size:
            self._scratch = mmap.mmap(-1, slot.size)
        copy = memoryview(self._scratch)[: slot.size]
        self._device.read(buffer, copy)
        return same_bytes(copy, self._inputs.piece(slot.input_offset, slot.size))
