"""What a submission asked of the device, on its way from the process that it shares to one of ours.

RECORD, before LOAD, begins; RECORDING afterwards takes what was recorded, piece by piece. In another runner, which
loads no submission, GIVE brings the pieces and REPLAY takes LOAD's place: the calls that follow do what was recorded,
with the device code of the submission's library. A recording is a claim, and so are the addresses of its buffers.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import cast

from judge.devices.base import Device, DeviceError, RecordingDevice
from judge.runner.calls import JudgedCalls
from judge.runner.frames import MAX_ARGUMENTS, MAX_PAYLOAD, Failure, FrameError, Reader, Writer
from judge.runner.refusal import Refused
from judge.runner.submission import Program

MAX_RECORDING_BYTES = 64 << 20
PIECE_BYTES = MAX_PAYLOAD - 64
#: ``emulator.replay.Transfers``, in order.
TRANSFERS = 9


@dataclass(frozen=True, slots=True)
class RecordingClaim:
    """``addresses``: of each argument's buffer, 0 for scalars. ``recording``: see ``emulator.replay``, and for GPUs
    ``judge.devices.cuda_recording``."""

    addresses: tuple[int, ...]
    recording: bytes

    def pack(self) -> bytes:
        out = Writer().u32(len(self.addresses))
        for address in self.addresses:
            out.u64(address)
        return out.payload() + self.recording

    @classmethod
    def unpack(cls, data: bytes) -> RecordingClaim:
        """Raises FrameError."""
        r = Reader(data)
        addresses = tuple(r.u64() for _ in range(r.count(MAX_ARGUMENTS)))
        return cls(addresses, data[4 + 8 * len(addresses) :])


@dataclass(frozen=True, slots=True)
class RecordingReply:
    """The bytes from an offset on; ``total`` of all."""

    total: int
    piece: bytes

    def pack(self) -> bytes:
        return Writer().u64(self.total).payload() + self.piece

    @classmethod
    def unpack(cls, payload: bytes) -> RecordingReply:
        total = Reader(payload).u64()
        if total > MAX_RECORDING_BYTES:
            raise FrameError(f"a recording of {total} bytes")
        return cls(total, payload[8:])


@dataclass(frozen=True, slots=True)
class TransfersReply:
    """What the recording moves between host and device."""

    counts: tuple[int, ...]

    def pack(self) -> bytes:
        out = Writer()
        for count in self.counts:
            out.u64(count)
        return out.payload()

    @classmethod
    def unpack(cls, payload: bytes) -> TransfersReply:
        r = Reader(payload)
        reply = cls(tuple(r.u64() for _ in range(TRANSFERS)))
        r.end()
        return reply


class Recordings:
    """The runner's side of it."""

    def __init__(self) -> None:
        self._data = bytearray()

    def begin(self, device: Device | None) -> bytes:
        if device is None:
            raise FrameError("no device is up")
        # Addresses come on top.
        cast(RecordingDevice, device).record(MAX_RECORDING_BYTES - PIECE_BYTES)
        return b""

    def take(self, payload: bytes, device: Device | None, calls: JudgedCalls) -> bytes:
        offset = Reader(payload).u64()
        if offset == 0:
            try:
                recording = cast(RecordingDevice, device).take_recording()
            except DeviceError as error:
                raise Refused(Failure.MEMORY, error.message, error.code, error.name) from None
            self._data = bytearray(RecordingClaim(calls.addresses(), recording).pack())
        return RecordingReply(len(self._data), bytes(self._data[offset : offset + PIECE_BYTES])).pack()

    def give(self, payload: bytes) -> bytes:
        if len(self._data) + len(payload) > MAX_RECORDING_BYTES:
            raise FrameError("a recording that is too long")
        self._data += payload
        return b""

    def replay(self, device: Device, library_fd: int) -> tuple[Program, bytes]:
        """What stands for the submission, and the reply."""
        claim = RecordingClaim.unpack(bytes(self._data))
        program = os.pread(library_fd, os.fstat(library_fd).st_size, 0)
        try:
            replayed, counts = cast(RecordingDevice, device).replay(claim.recording, program, claim.addresses)
        except DeviceError as error:
            raise Refused(Failure.LOAD, error.message, error.code, error.name) from None
        return replayed, TransfersReply(counts).pack()
