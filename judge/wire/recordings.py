"""The messages of a recording: the device operations of a submission, to be replayed in another runner.

RECORD, before LOAD, begins a recording; RECORDING fetches it afterwards, piece by piece. In a second runner, which
loads no submission, GIVE sends the pieces and REPLAY takes LOAD's place: the calls that follow replay the recorded
operations with the device code of the submission's library. A recording is a claim, and so are the addresses of its
buffers.
"""

from __future__ import annotations

from dataclasses import dataclass

from judge.wire.frames import MAX_ARGUMENTS, MAX_PAYLOAD, FrameError, Reader, Writer

MAX_RECORDING_BYTES = 64 << 20
PIECE_BYTES = MAX_PAYLOAD - 64
#: ``emulator.replay.Transfers``, in order.
TRANSFERS = 12


@dataclass(frozen=True, slots=True)
class RecordingClaim:
    """A request to load a recording, with ``addresses`` of the arguments' buffers, 0 for scalars.

    ``emulator.replay`` and, for GPUs, ``judge.runner.cuda.recording`` define ``recording``.
    """

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
    """A piece of a recording of ``total`` bytes."""

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
class ReplayReply:
    """One recorded call.

    ``operations`` counts what it asks of the device, 0 where the device does not count it; ``transfers`` are those of
    ``emulator.replay.Transfers``, all 0 where the device does not count.
    """

    operations: int = 0
    transfers: tuple[int, ...] = (0,) * TRANSFERS

    def pack(self) -> bytes:
        out = Writer().u64(self.operations)
        for count in self.transfers:
            out.u64(count)
        return out.payload()

    @classmethod
    def unpack(cls, payload: bytes) -> ReplayReply:
        r = Reader(payload)
        reply = cls(r.u64(), tuple(r.u64() for _ in range(TRANSFERS)))
        r.end()
        return reply
