"""Bursts of timed calls, on a device that makes inputs and checks outputs by itself (``judge.wire.bursts``).

Each call's buffers lie where the request says, in arenas reserved before. The inputs are complete on the device only
just before the call, and nothing of a later burst arrives before its turn. The outputs of a burst stay in place until
the next one, so that any of its calls can be opened.
"""

from __future__ import annotations

import ctypes
import functools
import resource
from collections.abc import Callable
from dataclasses import dataclass

from judge.runner.device import Buffer, DeviceError, Placed, TimedDevice
from judge.runner.memory import SharedMemory
from judge.runner.refusal import device_errors
from judge.runner.submission import Program
from judge.wire.bursts import (
    CommitReply,
    OpenRequest,
    ReserveRequest,
    StageRequest,
    TimedCall,
    TimedSlot,
    TimeRequest,
)
from judge.wire.digest import level_sizes
from judge.wire.frames import FrameError, Role
from judge.wire.messages import ArgumentSpec, RunReply
from judge.wire.recipe import Kind

_libc = ctypes.CDLL(None)
#: They lie in one place for all calls of a burst, and are not copied out.
_INPUTS = (Role.IN, Role.SPENT)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call of the burst with its buffers, None for scalars."""

    call: TimedCall
    placed: tuple[Placed | None, ...]


class TimedCalls:
    """Makes the calls of bursts. Owns the arenas and the staged inputs."""

    def __init__(
        self, device: TimedDevice, program: Program, inputs: SharedMemory, outputs: SharedMemory,
        arguments: tuple[ArgumentSpec, ...],
    ) -> None:  # fmt: skip
        self._device = device
        self._program = program
        self._inputs = inputs
        self._outputs = outputs
        self._arguments = arguments
        #: For each argument: no arena (a scalar), one (an input), or one for each place.
        self._arenas: list[list[Buffer]] = []
        self._staged: dict[int, Buffer] = {}
        self._burst: list[_Ready] = []
        #: The number of the prepared call.
        self._next = 0
        self._call: Callable[[], None]
        #: The error that ended the prepared call.
        self._error: DeviceError | None = None
        #: How often this thread had lost its processor when the call was prepared.
        self._preemptions = 0

    @property
    def is_ready(self) -> bool:
        """Whether the next call of the burst is prepared."""
        return self._next < len(self._burst)

    def reserve(self, request: ReserveRequest) -> bytes:
        if len(request.rooms) != len(self._arguments):
            raise FrameError("room for another number of arguments")
        with device_errors():
            for buffer in (*self._staged.values(), *(arena for arenas in self._arenas for arena in arenas)):
                self._device.free(buffer)
            self._staged, self._arenas, self._burst, self._next = {}, [], [], 0
            for argument, room in zip(self._arguments, request.rooms, strict=True):
                count = {Role.SCALAR: 0, Role.IN: 1, Role.SPENT: 1}.get(argument.role, request.places)
                self._arenas.append([])
                for _ in range(count):
                    self._arenas[-1].append(self._device.allocate(room, argument.name))
        return b""

    def stage(self, request: StageRequest) -> bytes:
        with device_errors():
            buffer = self._staged.get(request.index)
            if buffer is not None and buffer.size != request.size:
                self._device.free(self._staged.pop(request.index))
                buffer = None
            if buffer is None:
                buffer = self._staged[request.index] = self._device.allocate(request.size, "staged")
            self._device.write(buffer, self._inputs.piece(request.input_offset, request.size))
        return b""

    def time(self, request: TimeRequest) -> bytes:
        self._burst = [_Ready(call, self._place(call)) for call in request.calls]
        self._next = 0
        self._prepare()
        return b""

    def solve(self) -> bytes:
        """Makes the prepared call and does nothing else."""
        self._current()
        try:
            self._device.make_call(self._call)
        except DeviceError as error:
            self._error = error
        return b""

    def commit(self) -> bytes:
        ready = self._current()
        ran, preempted = self._ran(), _preemptions() > self._preemptions
        if self._error is not None:
            self._burst = self._burst[: self._next]
            return CommitReply(ran, finished=False, preempted=preempted).pack()
        with device_errors():
            findings = self._device.inspect([placed for placed in ready.placed if placed is not None])
            if ready.call.copy:
                self._copy_out(ready)
        flags = iter(findings.damage)
        damage = tuple(0 if placed is None else next(flags) for placed in ready.placed)
        self._next += 1
        if self.is_ready:
            self._prepare()
        else:
            # _exit would lose the submission's buffered output.
            _libc.fflush(None)
        return CommitReply(ran, damage, findings.digests, preempted=preempted).pack()

    def open(self, request: OpenRequest) -> bytes:
        if request.call >= self._next:
            raise FrameError("the burst had fewer calls")
        ready = self._burst[request.call]
        with device_errors():
            self._copy_out(ready)
            for slot, placed in zip(ready.call.slots, ready.placed, strict=True):
                if placed is not None and placed.digest:
                    target = self._outputs.piece(slot.digests_offset, level_sizes(slot.size)[0])
                    self._device.piece_digests(placed.buffer, target)
        return b""

    def _current(self) -> _Ready:
        if not self.is_ready:
            raise FrameError("no call was made ready")
        return self._burst[self._next]

    def _ran(self) -> RunReply:
        if self._error is None:
            try:
                # Reports an error such as a refused launch; the outputs show whether it did harm.
                return RunReply(self._device.elapsed(), *self._program.take_error())
            except DeviceError as error:
                self._error = error
        return RunReply(-1.0, self._error.code, self._error.name, self._error.message)

    def _prepare(self) -> None:
        ready = self._current()
        values = zip(ready.call.slots, ready.placed, strict=True)
        bound = self._program.bind([slot.value if placed is None else placed.buffer.address for slot, placed in values])
        self._call, self._error = functools.partial(self._program.call, bound), None
        with device_errors():
            for placed in ready.placed:
                if placed is not None:
                    self._device.place(placed)
            self._device.settle()
        self._preemptions = _preemptions()

    def _place(self, call: TimedCall) -> tuple[Placed | None, ...]:
        if len(call.slots) != len(self._arguments) or len(self._arenas) != len(self._arguments):
            raise FrameError("a call with another number of arguments, or without room for it")
        return tuple(
            None if argument.role is Role.SCALAR else self._placed(argument, slot, arenas, call)
            for argument, slot, arenas in zip(self._arguments, call.slots, self._arenas, strict=True)
        )

    def _placed(self, argument: ArgumentSpec, slot: TimedSlot, arenas: list[Buffer], call: TimedCall) -> Placed:
        if (slot.recipe is None) != (argument.role is Role.OUT):
            raise FrameError("an input without a recipe, or an output with one")
        place = 0 if argument.role in _INPUTS else slot.place
        if place >= len(arenas) or slot.shift + slot.size > arenas[place].size:
            raise FrameError("a buffer outside of what was reserved")
        staged = None
        if slot.recipe is not None and slot.recipe.kind is Kind.MASKED:
            staged = self._staged.get(slot.recipe.stage)
            if staged is None or staged.size != slot.size:
                raise FrameError("a masked input that was not staged")
        buffer = self._device.within(arenas[place], slot.shift, slot.size)
        digest = not (argument.role in _INPUTS or call.copy)
        return Placed(buffer, slot.recipe, staged, slot.fill, compare=argument.role is Role.IN, digest=digest)

    def _copy_out(self, ready: _Ready) -> None:
        for argument, slot, placed in zip(self._arguments, ready.call.slots, ready.placed, strict=True):
            if placed is not None and argument.role not in _INPUTS:
                self._device.read(placed.buffer, self._outputs.piece(slot.output_offset, slot.size))


def _preemptions() -> int:
    """Returns how often this thread lost its processor so far."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
