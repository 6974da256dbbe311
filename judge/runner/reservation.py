"""The device memory that is reserved before a submission is loaded: arenas, staged inputs, the pool, and a spare."""

from __future__ import annotations

from judge.runner.device import Buffer, TimedDevice
from judge.runner.memory import SharedMemory
from judge.runner.refusal import device_errors
from judge.wire.bursts import PieceRequest, ReserveRequest
from judge.wire.frames import FrameError
from judge.wire.recipe import Kind, Recipe


class Reservation:
    """Owns the memory, which stays reserved until the process ends, all but the spare."""

    def __init__(self, device: TimedDevice, inputs: SharedMemory, outputs: SharedMemory) -> None:
        self._device = device
        self._inputs = inputs
        self._outputs = outputs
        self._spare: Buffer | None = None
        self._staged: Buffer | None = None
        self._pool: Buffer | None = None
        #: For each argument its arena, None for scalars.
        self.arenas: tuple[Buffer | None, ...] = ()

    def reserve(self, request: ReserveRequest) -> bytes:
        """Raises Refused."""
        with device_errors():
            self.arenas = tuple(self._allocate(room, "arena") for room in request.rooms)
            self._staged = self._allocate(request.staged, "staged")
            self._pool = self._allocate(request.pool, "pool")
            self._spare = self._allocate(request.spare, "spare")
            if request.pinned:
                self._device.pin(self._outputs.piece(0, request.pinned))
        return b""

    def release_spare(self) -> None:
        """Frees the memory that was held while the submission was loaded. Raises Refused."""
        if self._spare is not None:
            with device_errors():
                self._device.free(self._spare)
            self._spare = None

    def fill_pool(self, request: PieceRequest) -> bytes:
        """Raises Refused."""
        return self._write(self._pool, request)

    def stage(self, request: PieceRequest) -> bytes:
        """Raises Refused."""
        return self._write(self._staged, request)

    def beside(self, recipe: Recipe | None, size: int) -> Buffer | None:
        """Returns the source of an input of ``size`` bytes beside its key; None if there is none.

        It is the input's staged copy, or its part of the pool.
        """
        if recipe is None or (recipe.kind is not Kind.MASKED and recipe.pool is None):
            return None
        if recipe.kind is Kind.MASKED:
            return self._part(self._staged, recipe.stage, size)
        return self._part(self._pool, recipe.pool or 0, size)

    def _write(self, buffer: Buffer | None, request: PieceRequest) -> bytes:
        part = self._part(buffer, request.offset, request.size)
        with device_errors():
            self._device.write(part, self._inputs.piece(request.input_offset, request.size))
        return b""

    def _part(self, buffer: Buffer | None, offset: int, size: int) -> Buffer:
        if buffer is None or offset + size > buffer.size:
            raise FrameError("a part of what was not reserved")
        return self._device.within(buffer, offset, size)

    def _allocate(self, size: int, label: str) -> Buffer | None:
        return self._device.allocate(size, label) if size else None
