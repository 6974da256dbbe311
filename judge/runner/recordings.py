"""Records and replays a submission's work in the runner. ``judge.wire.recordings`` has the messages."""

from __future__ import annotations

import os
from typing import cast

from judge.runner.calls import JudgedCalls
from judge.runner.device import Device, DeviceError, RecordingDevice
from judge.runner.refusal import Refused
from judge.runner.submission import Program
from judge.wire.frames import Failure, FrameError, Reader
from judge.wire.recordings import MAX_RECORDING_BYTES, PIECE_BYTES, RecordingClaim, RecordingReply


class Recordings:
    """The recording that this runner makes, or the one that it was given."""

    def __init__(self) -> None:
        self._data = bytearray()

    def begin(self, device: Device | None) -> bytes:
        if device is None:
            raise FrameError("no device is up")
        # Leaves room for the addresses of the buffers.
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
        """Returns the program that replays the recording, and the reply."""
        claim = RecordingClaim.unpack(bytes(self._data))
        program = os.pread(library_fd, os.fstat(library_fd).st_size, 0)
        try:
            replayed, reply = cast(RecordingDevice, device).replay(claim.recording, program, claim.addresses)
        except DeviceError as error:
            raise Refused(Failure.LOAD, error.message, error.code, error.name) from None
        return replayed, reply.pack()
