"""One submission's life in the jail, in the process that ``judge.runner.parent`` starts.

The four arguments are descriptors: the socket to the supervisor, the two shared memories and the (still empty) file for
the submission. The order of the steps matters: bring the device up, which needs threads and files; install the seccomp
filter; move to the processor for timing; load the submission, whose constructors run under all of that; make calls.
Every request gets one reply. When the socket closes the process ends by ``_exit``, so that nothing of the submission
runs later.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn, cast

from judge.runner import seccomp
from judge.runner.calls import JudgedCalls
from judge.runner.channel import Channel
from judge.runner.device import Device, DeviceError, DeviceOptions, RewritingDevice, TimedDevice
from judge.runner.marks import die_with_parent, end_if_marked, leave_marks, mark_exit_first
from judge.runner.memory import SharedMemory
from judge.runner.recordings import Recordings
from judge.runner.refusal import Refused
from judge.runner.reservation import Reservation
from judge.runner.submission import LoadError, Program
from judge.runner.timing import TimedCalls
from judge.wire import landlock
from judge.wire.bursts import OpenRequest, PieceRequest, PlaceRequest, ReserveRequest
from judge.wire.frames import Failure, Frame, FrameError, Op
from judge.wire.last_word import RUNNER_FAILED
from judge.wire.messages import ArgumentSpec, LoadRequest, PrepareRequest, StartRequest

#: How long the runner polls for the request of a timed call, where there are processors to spare: waking up would take
#: longer one time than another.
_AWAKE_S = 2e-3 if len(os.sched_getaffinity(0)) >= 4 else 0.0

#: The descriptors of mutants' files are numbered from here on, each above the one before.
_FIRST_MUTANT = 64


class Runner:
    """Handles requests: START, LOAD, then calls one by one (PREPARE, RUN, FETCH) or in bursts.

    MUTATE loads the submission again with other device code, to verify a pack's cases.

    Before LOAD come RESERVE and POOL; the requests of bursts are STAGE, UNDO, PLACE, SOLVE, COMMIT and OPEN.
    ``judge.runner.recordings`` handles RECORD, RECORDING, GIVE and REPLAY.
    """

    def __init__(self, input_fd: int, output_fd: int, library_fd: int) -> None:
        self._input_fd = input_fd
        self._output_fd = output_fd
        self._library_fd = library_fd
        self._device: Device | None = None
        self._locked = False
        #: All threads there will be: none can start under the filter.
        self._threads: list[int] = []
        self._inputs: SharedMemory
        self._outputs: SharedMemory
        self._recordings = Recordings()
        self._submission: Program
        self._loader: ModuleType
        self._arguments: tuple[ArgumentSpec, ...] = ()
        self._next_mutant = _FIRST_MUTANT
        self._calls: JudgedCalls | None = None
        self._bursts: TimedCalls
        self._reservation: Reservation

    def handle(self, request: Frame) -> bytes:
        """Returns the payload of the reply. Raises Refused."""
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
        if request.op in (Op.RESERVE, Op.POOL):
            return self._reserve(request)
        if self._calls is None:
            raise FrameError("nothing is loaded")
        if request.op == Op.MUTATE:
            return self._mutate([text for text in payload.decode().split("\0") if text])
        if request.op == Op.RECORDING:
            return self._recordings.take(payload, self._device, self._calls)
        if request.op == Op.PREPARE:
            return self._calls.prepare(PrepareRequest.unpack(payload))
        if request.op == Op.RUN:
            mark_exit_first()
            reply = self._calls.run(self._submission)
            end_if_marked()
            return reply
        if request.op == Op.FETCH:
            return self._calls.fetch()
        if request.op == Op.STAGE:
            return self._reservation.stage(PieceRequest.unpack(payload))
        if request.op == Op.UNDO:
            return self._bursts.undo()
        if request.op == Op.PLACE:
            return self._bursts.place(PlaceRequest.unpack(payload))
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
            self._device = module.open_device(DeviceOptions(start.ordinal, start.library, start.threads, start.pytorch))
        except DeviceError as error:
            raise Refused(Failure.DEVICE, error.message, error.code, error.name) from None
        except Exception as error:
            raise Refused(Failure.DEVICE, f"{type(error).__name__}: {error}") from None
        # The supervisor reserves only on devices that make timed calls.
        self._reservation = Reservation(cast(TimedDevice, self._device), self._inputs, self._outputs)
        leave_marks(self._device.first_finding)
        self._threads = [int(path.name) for path in Path("/proc/self/task").iterdir()]
        self._locked = start.lock
        if self._locked:
            try:
                landlock.restrict_runner()
                seccomp.lock_before_load(allow_executable=self._device.makes_code)
            except Exception as error:
                raise Refused(Failure.JAIL, f"{type(error).__name__}: {error}") from None
        return b""

    def _reserve(self, request: Frame) -> bytes:
        if self._device is None or self._calls is not None:
            raise FrameError("no device is up, or something is loaded already")
        if request.op == Op.RESERVE:
            return self._reservation.reserve(ReserveRequest.unpack(request.payload))
        return self._reservation.fill_pool(PieceRequest.unpack(request.payload))

    def _load(self, request: LoadRequest, *, is_replay: bool = False) -> bytes:
        device = self._device
        if device is None or self._calls is not None:
            raise FrameError("no device is up, or something is loaded already")
        device.limit(request)
        self._arguments = request.arguments
        if request.processor is not None:
            # Host functions run on one of the device's threads, so all move. If they cannot, times are less steady.
            for thread in self._threads:
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(thread, {request.processor})
        if self._locked:
            seccomp.lock_scheduling()
        reply = b""
        mark_exit_first()
        try:
            if is_replay:
                self._submission, reply = self._recordings.replay(device, self._library_fd)
            else:
                self._loader = importlib.import_module(request.loader)
                self._submission = self._loader.load_program(self._library_fd, request.arguments, device)
        except LoadError as error:
            raise Refused(Failure.LOAD, str(error)) from None
        if self._locked and not device.makes_code:
            seccomp.lock_after_load()
        self._reservation.release_spare()
        self._calls = JudgedCalls(device, self._inputs, self._outputs, request.arguments)
        self._bursts = TimedCalls(
            cast(TimedDevice, device), self._submission, self._reservation, self._outputs, request.arguments
        )
        return reply

    def _mutate(self, texts: Sequence[str]) -> bytes:
        """Loads the library once more, by a descriptor of a number that no library was loaded by.

        The loader knows a library by its path, and a path that it knows gives the earlier library. Numbers may be
        taken: the supervisor's descriptors have the numbers that they have in its process.
        """
        cast(RewritingDevice, self._device).rewrite(texts)
        made = os.memfd_create("mutant", os.MFD_CLOEXEC)
        copy = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, self._next_mutant)
        self._next_mutant = copy + 1
        os.close(made)
        try:
            os.sendfile(copy, self._library_fd, 0, os.fstat(self._library_fd).st_size)
            self._submission = self._loader.load_program(copy, self._arguments, self._device)
        except LoadError as error:
            raise Refused(Failure.LOAD, str(error)) from None
        finally:
            os.close(copy)
        return b""

    @property
    def call_is_ready(self) -> bool:
        """Whether a timed call will be requested next."""
        return self._calls is not None and self._bursts.is_ready

    def close(self) -> None:
        """Closes the device if it came up."""
        if self._device is not None:
            self._device.close()


def serve(channel: Channel, runner: Runner) -> None:
    """Answers requests until the supervisor closes the socket."""
    awake_s = 0.0
    while (request := channel.receive(awake_s)) is not None:
        try:
            channel.reply(request, runner.handle(request))
        except Refused as refused:
            channel.reply(request, refused.reply.pack(), failed=True)
        awake_s = _AWAKE_S if runner.call_is_ready else 0.0


def run(argv: list[str], *, with_parent: bool = True) -> NoReturn:
    """Serves until the supervisor closes the socket, and ends the process. ``argv`` names the four descriptors.

    ``with_parent``: it ends with the thread that started it.
    """
    if with_parent:
        die_with_parent()
    status = 0
    try:
        channel_fd, input_fd, output_fd, library_fd = (int(text) for text in argv)
        runner = Runner(input_fd, output_fd, library_fd)
        serve(Channel(channel_fd), runner)
        runner.close()
    except BaseException as error:
        status = RUNNER_FAILED
        # The submission may have closed every descriptor.
        with contextlib.suppress(OSError):
            os.write(2, f"runner: {type(error).__name__}: {error}\n".encode())
    os._exit(status)
