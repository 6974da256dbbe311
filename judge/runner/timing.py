"""Timed calls, in bursts, on a device that makes inputs and checks outputs by itself (``judge.wire.bursts``).

Each call's buffers lie where the request says, in arenas reserved before. The inputs are complete on the device only
just before the call, and nothing of a later call arrives before its turn. The outputs of a burst stay in place until
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
from judge.runner.reservation import Reservation
from judge.runner.submission import Program
from judge.wire.bursts import CommitReply, OpenRequest, PlaceRequest, TimedCall, TimedSlot
from judge.wire.digest import level_sizes
from judge.wire.frames import FrameError, Role
from judge.wire.messages import ArgumentSpec, RunReply

_libc = ctypes.CDLL(None)
#: They lie in one place for all calls of a burst, and are not copied out.
_INPUTS = (Role.IN, Role.SPENT)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call of the burst with its buffers, None for scalars."""

    call: TimedCall
    placed: tuple[Placed | None, ...]


class TimedCalls:
    """Makes the calls of bursts, in what was reserved."""

    def __init__(
        self,
        device: TimedDevice,
        program: Program,
        reservation: Reservation,
        outputs: SharedMemory,
        arguments: tuple[ArgumentSpec, ...],
    ) -> None:
        self._device = device
        self._program = program
        self._reservation = reservation
        self._outputs = outputs
        self._arguments = arguments
        #: The calls of the burst that were placed. All are committed but the last one while it ``is_ready``.
        self._burst: list[_Ready] = []
        #: Whether a call is placed and not committed yet.
        self.is_ready = False
        self._call: Callable[[], None]
        #: The error that ended the placed call.
        self._error: DeviceError | None = None
        #: How often this thread had lost its processor when the call was placed.
        self._preemptions = 0

    def undo(self) -> bytes:
        """Takes back what earlier calls left in the device's caches, while nothing is known of a next call."""
        with device_errors():
            self._device.undo()
        return b""

    def place(self, request: PlaceRequest) -> bytes:
        if request.index == 0:
            self._burst = []
        if self.is_ready or request.index != len(self._burst):
            raise FrameError("a call out of its turn")
        ready = _Ready(request.call, self._place(request.call))
        values = [
            slot.value if placed is None else placed.buffer.address
            for slot, placed in zip(ready.call.slots, ready.placed, strict=True)
        ]
        shapes = [slot.shape for slot in ready.call.slots]
        self._call, self._error = functools.partial(self._program.call, self._program.bind(values, shapes)), None
        with device_errors():
            for placed in ready.placed:
                if placed is not None:
                    self._device.place(placed)
            self._device.settle()
        self._burst.append(ready)
        self.is_ready = True
        self._preemptions = _preemptions()
        return b""

    def solve(self) -> bytes:
        """Makes the placed call and does nothing else."""
        self._current()
        try:
            self._device.make_call(self._call)
        except DeviceError as error:
            self._error = error
        return b""

    def commit(self) -> bytes:
        ready = self._current()
        ran, preempted = self._ran(), _preemptions() > self._preemptions
        self.is_ready = False
        if self._error is not None:
            self._burst.pop()
            return CommitReply(ran, finished=False, preempted=preempted).pack()
        with device_errors():
            findings = self._device.inspect([placed for placed in ready.placed if placed is not None])
            if ready.call.copy:
                self._copy_out(ready)
        flags = iter(findings.damage)
        damage = tuple(0 if placed is None else next(flags) for placed in ready.placed)
        # _exit would lose the submission's buffered output.
        _libc.fflush(None)
        return CommitReply(ran, damage, findings.digests, preempted=preempted).pack()

    def open(self, request: OpenRequest) -> bytes:
        if self.is_ready or request.call >= len(self._burst):
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
        return self._burst[-1]

    def _ran(self) -> RunReply:
        if self._error is None:
            try:
                # Reports an error such as a refused launch; the outputs show whether it did harm.
                return RunReply(self._device.elapsed(), *self._program.take_error())
            except DeviceError as error:
                self._error = error
        return RunReply(-1.0, self._error.code, self._error.name, self._error.message)

    def _place(self, call: TimedCall) -> tuple[Placed | None, ...]:
        arenas = self._reservation.arenas
        if len(call.slots) != len(self._arguments) or len(arenas) != len(self._arguments):
            raise FrameError("a call with another number of arguments, or without room for it")
        return tuple(
            None if argument.role is Role.SCALAR else self._placed(argument, slot, arena, call)
            for argument, slot, arena in zip(self._arguments, call.slots, arenas, strict=True)
        )

    def _placed(self, argument: ArgumentSpec, slot: TimedSlot, arena: Buffer | None, call: TimedCall) -> Placed:
        if (slot.recipe is None) != (argument.role is Role.OUT):
            raise FrameError("an input without a recipe, or an output with one")
        if arena is None or slot.shift + slot.size > arena.size:
            raise FrameError("a buffer outside of what was reserved")
        buffer = self._device.within(arena, slot.shift, slot.size)
        beside = self._reservation.beside(slot.recipe, slot.size)
        digest = not (argument.role in _INPUTS or call.copy)
        return Placed(buffer, slot.recipe, beside, slot.fill, compare=argument.role is Role.IN, digest=digest)

    def _copy_out(self, ready: _Ready) -> None:
        for argument, slot, placed in zip(self._arguments, ready.call.slots, ready.placed, strict=True):
            if placed is not None and argument.role not in _INPUTS:
                self._device.read(placed.buffer, self._outputs.piece(slot.output_offset, slot.size))


def _preemptions() -> int:
    """Returns how often this thread lost its processor so far."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
