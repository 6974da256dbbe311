"""``python -m judge.runner.main CHANNEL INPUTS OUTPUTS LIBRARY``: one submission's life in the jail.

The four arguments are descriptors: the socket to the supervisor, the two shared memories and the (still empty) file
that will hold the submission. The order of things is the point: device up first, since it needs threads and files;
then the seccomp lock; then the submission is loaded, so that its constructors meet the lock; then calls. Every
request gets one reply, and the process ends when the socket does, by ``_exit``, so that nothing of the submission's
runs after its time.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import mmap
import os
import sys

from judge.devices.base import Buffer, Device, DeviceError, DeviceOptions
from judge.runner.channel import Channel
from judge.runner.frames import Failure, Frame, FrameError, Op, Role
from judge.runner.memory import SharedMemory, same_bytes
from judge.runner.messages import (
    FailedReply,
    FetchReply,
    PrepareRequest,
    RunReply,
    Slot,
    StartRequest,
)
from judge.runner.submission import LoadError, Submission

_libc = ctypes.CDLL(None)


class Refused(Exception):
    """A request that cannot be done: what to reply."""

    def __init__(self, failure: Failure, message: str, code: int = 0, name: str = "") -> None:
        super().__init__(message)
        self.reply = FailedReply(failure, code, name, message)


class Runner:
    """Does what the requests say, in the order START, LOAD, then PREPARE, RUN, FETCH for each call."""

    def __init__(self, input_fd: int, output_fd: int, library_fd: int) -> None:
        self._input_fd = input_fd
        self._output_fd = output_fd
        self._library_fd = library_fd
        self._start: StartRequest
        self._device: Device
        self._inputs: SharedMemory
        self._outputs: SharedMemory
        self._submission: Submission | None = None
        self._slots: tuple[Slot, ...] = ()
        self._buffers: list[Buffer | None] = []
        self._scratch: mmap.mmap | None = None

    def handle(self, request: Frame) -> bytes:
        """The payload of the reply. Raises Refused."""
        if request.op == Op.START:
            return self._bring_up(StartRequest.unpack(request.payload))
        if request.op == Op.LOAD:
            return self._load()
        if request.op == Op.PREPARE:
            return self._prepare(PrepareRequest.unpack(request.payload))
        if request.op == Op.RUN:
            return self._run()
        if request.op == Op.FETCH:
            return self._fetch()
        raise FrameError(f"no such request: {request.op}")

    def _bring_up(self, start: StartRequest) -> bytes:
        self._start = start
        self._inputs = SharedMemory(self._input_fd, start.input_bytes, writable=False)
        self._outputs = SharedMemory(self._output_fd, start.output_bytes, writable=True)
        options = DeviceOptions(
            start.ordinal, start.library, start.threads, start.memory_bytes,
            start.warp_instructions, start.wall_s, start.schedule_seed,
        )  # fmt: skip
        try:
            self._device = importlib.import_module(start.device_module).open_device(options)
        except DeviceError as error:
            raise Refused(Failure.DEVICE, error.message, error.code, error.name) from None
        except Exception as error:
            raise Refused(Failure.DEVICE, f"{type(error).__name__}: {error}") from None
        # exit() in a submission must end the process with its own code, not in the destructors of the device's
        # libraries (PyCUDA's abort). What the submission itself registered runs before: handlers run last in, first
        # out.
        _libc.on_exit(_libc._exit, None)
        if start.lock:
            try:
                from judge.sandbox import seccomp

                seccomp.lock_before_load()
            except Exception as error:
                raise Refused(Failure.JAIL, f"{type(error).__name__}: {error}") from None
        return b""

    def _load(self) -> bytes:
        try:
            self._submission = Submission(self._library_fd, self._start.arguments)
        except LoadError as error:
            raise Refused(Failure.LOAD, str(error)) from None
        if self._start.lock:
            from judge.sandbox import seccomp

            seccomp.lock_after_load(allow_executable=self._device.makes_code)
        return b""

    def _prepare(self, request: PrepareRequest) -> bytes:
        arguments = self._start.arguments
        if len(request.slots) != len(arguments):
            raise FrameError("a call with another number of arguments")
        self._slots = request.slots
        try:
            self._place_buffers()
            for argument, slot, buffer in zip(arguments, self._slots, self._buffers, strict=True):
                if buffer is None:
                    continue
                if argument.role is Role.OUT:
                    self._device.fill(buffer, slot.fill)
                else:
                    self._device.write(buffer, self._inputs.piece(slot.input_offset, slot.size))
            self._device.watch(request.watch)
            self._device.settle()
            self._device.take_report()
        except DeviceError as error:
            failure = Failure.MEMORY if error.name == "cudaErrorMemoryAllocation" else Failure.CUDA
            raise Refused(failure, error.message, error.code, error.name) from None
        return b""

    def _place_buffers(self) -> None:
        wanted = [
            -1 if argument.role is Role.SCALAR else slot.size
            for argument, slot in zip(self._start.arguments, self._slots, strict=True)
        ]
        if wanted == [-1 if buffer is None else buffer.size for buffer in self._buffers]:
            return
        for buffer in self._buffers:
            if buffer is not None:
                self._device.free(buffer)
        self._buffers = []
        for argument, size in zip(self._start.arguments, wanted, strict=True):
            self._buffers.append(None if size < 0 else self._device.allocate(size, argument.name))

    def _run(self) -> bytes:
        submission = self._submission
        if submission is None or len(self._buffers) != len(self._start.arguments):
            raise FrameError("nothing is loaded and prepared")
        values = [slot.value if b is None else b.address for slot, b in zip(self._slots, self._buffers, strict=True)]
        bound = submission.bind(values)
        reply = RunReply(-1.0, 0, "", "")
        try:
            elapsed_s = self._device.time_call(lambda: submission.call(bound))
            reply = RunReply(elapsed_s, *submission.take_error())
        except DeviceError as error:
            reply = RunReply(-1.0, error.code, error.name, error.message)
        # What the submission printed belongs to this call, and would be lost at _exit.
        _libc.fflush(None)
        return reply.pack()

    def _fetch(self) -> bytes:
        damage = []
        try:
            for argument, slot, buffer in zip(self._start.arguments, self._slots, self._buffers, strict=True):
                flags = 0
                if buffer is not None:
                    flags = self._device.damage(buffer)
                    if argument.role is Role.IN:
                        flags |= 0 if self._is_unchanged(buffer, slot) else 4
                    else:
                        self._device.read(buffer, self._outputs.piece(slot.output_offset, slot.size))
                damage.append(flags)
            report = self._device.take_report()
        except DeviceError as error:
            raise Refused(Failure.CUDA, error.message, error.code, error.name) from None
        return FetchReply(tuple(damage), report).pack()

    def _is_unchanged(self, buffer: Buffer, slot: Slot) -> bool:
        if not slot.size:
            return True
        if self._scratch is None or len(self._scratch) < slot.size:
            self._scratch = mmap.mmap(-1, slot.size)
        copy = memoryview(self._scratch)[: slot.size]
        self._device.read(buffer, copy)
        return same_bytes(copy, self._inputs.piece(slot.input_offset, slot.size))

    def close(self) -> None:
        """Takes the device down, if it came up."""
        if hasattr(self, "_device"):
            self._device.close()


def serve(channel: Channel, runner: Runner) -> None:
    """Answers requests until the supervisor goes."""
    while (request := channel.receive()) is not None:
        try:
            channel.reply(request, runner.handle(request))
        except Refused as refused:
            channel.reply(request, refused.reply.pack(), failed=True)


def main(argv: list[str]) -> None:
    channel_fd, input_fd, output_fd, library_fd = (int(text) for text in argv)
    runner = Runner(input_fd, output_fd, library_fd)
    serve(Channel(channel_fd), runner)
    runner.close()


if __name__ == "__main__":
    status = 0
    try:
        main(sys.argv[1:])
    except BaseException as error:
        status = 70
        # One line, without a traceback; there may be no descriptor left to write it to.
        with contextlib.suppress(OSError):
            os.write(2, f"runner: {type(error).__name__}: {error}\n".encode())
    os._exit(status)
