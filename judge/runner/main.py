"""``python -m judge.runner.main CHANNEL INPUTS OUTPUTS LIBRARY``: one submission's life in the jail.

The four arguments are descriptors: the socket to the supervisor, the two shared memories and the (still empty) file
that will hold the submission. The order of things is the point: device up first, since it needs threads and files;
then the seccomp lock; then the processor to stay on; then the submission is loaded, so that its constructors meet all
of that; then calls. Every request gets one reply, and the process ends when the socket does, by ``_exit``, so that
nothing of the submission's runs after its time.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import sys
from pathlib import Path
from typing import cast

from judge.devices.base import Device, DeviceError, DeviceOptions, TimedDevice
from judge.runner.bursts import OpenRequest, ReserveRequest, StageRequest, TimeRequest
from judge.runner.calls import JudgedCalls
from judge.runner.channel import Channel
from judge.runner.frames import Failure, Frame, FrameError, Op
from judge.runner.memory import SharedMemory
from judge.runner.messages import LoadRequest, PrepareRequest, StartReply, StartRequest
from judge.runner.recordings import Recordings
from judge.runner.refusal import Refused
from judge.runner.submission import LoadError, Program, Submission
from judge.runner.timing import TimedCalls

_libc = ctypes.CDLL(None)

#: Where a timed call is about to be asked for, to be woken for it would take longer one time than another: so long the
#: runner stays awake for it, where there are processors to spare.
_AWAKE_S = 2e-3 if len(os.sched_getaffinity(0)) >= 4 else 0.0


class Runner:
    """Does what the requests say: START, LOAD, then calls one by one (PREPARE, RUN, FETCH) or in bursts (RESERVE,
    STAGE, TIME, SOLVE, COMMIT, OPEN). RECORD, RECORDING, GIVE and REPLAY are told of in ``judge.runner.recordings``.
    """

    def __init__(self, input_fd: int, output_fd: int, library_fd: int) -> None:
        self._input_fd = input_fd
        self._output_fd = output_fd
        self._library_fd = library_fd
        self._device: Device | None = None
        self._locked = False
        #: All there will be: none is made once locked.
        self._threads: list[int] = []
        self._inputs: SharedMemory
        self._outputs: SharedMemory
        self._recordings = Recordings()
        self._submission: Program
        self._calls: JudgedCalls | None = None
        self._bursts: TimedCalls

    def handle(self, request: Frame) -> bytes:
        """The payload of the reply. Raises Refused."""
        payload = request.payload
        if request.op == Op.START:
            return self._bring_up(StartRequest.unpack(payload))
        if request.op == Op.LOAD:
            return self._load(LoadRequest.unpack(payload))
        if request.op == Op.RECORD:
            return self._recordings.begin(self._device)
        if request.op == Op.GIVE:
            return self._recordings.give(payload)
        if request.op == Op.REPLAY:
            return self._load(LoadRequest.unpack(payload), is_replay=True)
        if self._calls is None:
            raise FrameError("nothing is loaded")
        if request.op == Op.RECORDING:
            return self._recordings.take(payload, self._device, self._calls)
        if request.op == Op.PREPARE:
            return self._calls.prepare(PrepareRequest.unpack(payload))
        if request.op == Op.RUN:
            return self._calls.run(self._submission)
        if request.op == Op.FETCH:
            return self._calls.fetch()
        if request.op == Op.RESERVE:
            self._calls.release()
            return self._bursts.reserve(ReserveRequest.unpack(payload))
        if request.op == Op.STAGE:
            return self._bursts.stage(StageRequest.unpack(payload))
        if request.op == Op.TIME:
            return self._bursts.time(TimeRequest.unpack(payload))
        if request.op == Op.SOLVE:
            return self._bursts.solve()
        if request.op == Op.COMMIT:
            return self._bursts.commit()
        if request.op == Op.OPEN:
            return self._bursts.open(OpenRequest.unpack(payload))
        raise FrameError(f"no such request: {request.op}")

    def _bring_up(self, start: StartRequest) -> bytes:
        self._inputs = SharedMemory(self._input_fd, start.input_bytes, writable=False)
        self._outputs = SharedMemory(self._output_fd, start.output_bytes, writable=True)
        try:
            module = importlib.import_module(start.device_module)
            self._device = module.open_device(DeviceOptions(start.ordinal, start.library, start.threads))
            free_bytes = self._device.free_bytes()
        except DeviceError as error:
            raise Refused(Failure.DEVICE, error.message, error.code, error.name) from None
        except Exception as error:
            raise Refused(Failure.DEVICE, f"{type(error).__name__}: {error}") from None
        # exit() in a submission must end the process with its own code, not in the destructors of the device's
        # libraries (PyCUDA's abort). What the submission itself registered runs before: handlers run last in, first
        # out.
        _libc.on_exit(_libc._exit, None)
        self._threads = [int(path.name) for path in Path("/proc/self/task").iterdir()]
        self._locked = start.lock
        if self._locked:
            try:
                from judge.sandbox import landlock, seccomp

                landlock.restrict_runner()
                seccomp.lock_before_load(allow_executable=self._device.makes_code)
            except Exception as error:
                raise Refused(Failure.JAIL, f"{type(error).__name__}: {error}") from None
        return StartReply(free_bytes).pack()

    def _load(self, request: LoadRequest, *, is_replay: bool = False) -> bytes:
        device = self._device
        if device is None or self._calls is not None:
            raise FrameError("no device is up, or something is loaded already")
        device.limit(request)
        if request.processor is not None:
            # The device's threads too: host functions run on one. Where it cannot be had, times are as good as without.
            for thread in self._threads:
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(thread, {request.processor})
        if self._locked:
            from judge.sandbox import seccomp

            seccomp.lock_scheduling()
        reply = b""
        try:
            if is_replay:
                self._submission, reply = self._recordings.replay(device, self._library_fd)
            else:
                self._submission = Submission(self._library_fd, request.arguments)
        except LoadError as error:
            raise Refused(Failure.LOAD, str(error)) from None
        if self._locked and not device.makes_code:
            seccomp.lock_after_load()
        self._calls = JudgedCalls(device, self._inputs, self._outputs, request.arguments)
        # Bursts are asked for only of devices that can make them.
        self._bursts = TimedCalls(
            cast(TimedDevice, device), self._submission, self._inputs, self._outputs, request.arguments
        )
        return reply

    @property
    def call_is_ready(self) -> bool:
        """Whether a timed call is about to be asked for."""
        return self._calls is not None and self._bursts.is_ready

    def close(self) -> None:
        """Takes the device down, if it came up."""
        if self._device is not None:
            self._device.close()


def serve(channel: Channel, runner: Runner) -> None:
    """Answers requests until the supervisor goes."""
    awake_s = 0.0
    while (request := channel.receive(awake_s)) is not None:
        try:
            channel.reply(request, runner.handle(request))
        except Refused as refused:
            channel.reply(request, refused.reply.pack(), failed=True)
        awake_s = _AWAKE_S if runner.call_is_ready else 0.0


def main(argv: list[str]) -> None:
    # A collection would be on the clock of the call it falls into; what cycles there are end with the process.
    gc.disable()
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
