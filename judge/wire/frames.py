"""The frames between supervisor and runner: a fixed binary layout, one reply to each request, bound to it by a nonce.

A frame is a header (magic, opcode, flags, nonce, payload length) and a payload of at most MAX_PAYLOAD bytes, packed
little-endian by hand. The reading side trusts nothing: it checks every length against the bytes left and every string
against a bound, and raises FrameError for what does not fit. Pickle and JSON never cross. This module imports only the
lightest parts of the standard library: the runner shares its process with an attacker.
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass

MAGIC = 0x4A475047
HEADER = struct.Struct("<IHHQI")
MAX_PAYLOAD = 1 << 20
MAX_TEXT = 4096
MAX_ARGUMENTS = 64


class FrameError(Exception):
    """Bytes that are not a frame, or not the expected frame."""


class Op(enum.IntEnum):
    """The request that a frame makes. The reply carries the same number with REPLY or FAILED set."""

    START = 1
    LOAD = 2
    PREPARE = 3
    RUN = 4
    FETCH = 5
    RESERVE = 6
    STAGE = 7
    PLACE = 8
    OPEN = 9
    RECORD = 10
    RECORDING = 11
    GIVE = 12
    REPLAY = 13
    SOLVE = 14
    COMMIT = 15
    MUTATE = 16
    POOL = 17
    UNDO = 18
    REPLY = 0x8000
    FAILED = 0x4000


class Role(enum.IntEnum):
    """How ``solve`` uses an argument."""

    IN = 0
    OUT = 1
    INOUT = 2
    SCALAR = 3
    #: An input that the call may overwrite, which nobody looks at afterwards.
    SPENT = 4


class Failure(enum.IntEnum):
    """Why a request failed. DEVICE and JAIL are the machine's fault; the others may be the submission's."""

    DEVICE = 1
    JAIL = 2
    LOAD = 3
    SYMBOL = 4
    MEMORY = 5
    CUDA = 6


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: ``op`` is its kind, and an answer has the ``nonce`` of its request."""

    op: int
    nonce: int
    payload: bytes


def pack_frame(op: int, nonce: int, payload: bytes = b"") -> bytes:
    """Returns the bytes of one frame. Raises FrameError if the payload is too long."""
    if len(payload) > MAX_PAYLOAD:
        raise FrameError(f"a payload of {len(payload)} bytes is longer than {MAX_PAYLOAD}")
    return HEADER.pack(MAGIC, op, 0, nonce, len(payload)) + payload


def split_frame(buffer: bytes | bytearray) -> tuple[Frame, int] | None:
    """Returns the first frame in ``buffer`` and its length in bytes; None if it is incomplete. Raises FrameError."""
    if len(buffer) < HEADER.size:
        return None
    magic, op, flags, nonce, length = HEADER.unpack_from(buffer)
    if magic != MAGIC or flags != 0:
        raise FrameError("not a frame")
    if length > MAX_PAYLOAD:
        raise FrameError(f"a frame of {length} bytes")
    end = HEADER.size + length
    if len(buffer) < end:
        return None
    return Frame(op, nonce, bytes(buffer[HEADER.size : end])), end


class Writer:
    """Builds a payload."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def u8(self, value: int) -> Writer:
        self._parts.append(struct.pack("<B", value))
        return self

    def u32(self, value: int) -> Writer:
        self._parts.append(struct.pack("<I", value))
        return self

    def i32(self, value: int) -> Writer:
        self._parts.append(struct.pack("<i", value))
        return self

    def u64(self, value: int) -> Writer:
        self._parts.append(struct.pack("<Q", value))
        return self

    def f64(self, value: float) -> Writer:
        self._parts.append(struct.pack("<d", value))
        return self

    def raw(self, value: bytes) -> Writer:
        self._parts.append(value)
        return self

    def text(self, value: str) -> Writer:
        """Appends at most MAX_TEXT bytes of UTF-8 and drops the rest."""
        encoded = value.encode("utf-8", "replace")[:MAX_TEXT]
        self._parts.append(struct.pack("<H", len(encoded)) + encoded)
        return self

    def payload(self) -> bytes:
        return b"".join(self._parts)


class Reader:
    """Reads a payload. Every method raises FrameError when bytes are missing; ``end`` when some are left."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._at = 0

    def raw(self, size: int) -> bytes:
        if size < 0 or self._at + size > len(self._payload):
            raise FrameError("a payload that is too short")
        piece = self._payload[self._at : self._at + size]
        self._at += size
        return piece

    def rest(self) -> bytes:
        """Returns all bytes that are left."""
        return self.raw(len(self._payload) - self._at)

    def u8(self) -> int:
        return self.raw(1)[0]

    def u32(self) -> int:
        return int.from_bytes(self.raw(4), "little")

    def i32(self) -> int:
        return int.from_bytes(self.raw(4), "little", signed=True)

    def u64(self) -> int:
        return int.from_bytes(self.raw(8), "little")

    def f64(self) -> float:
        value: float = struct.unpack("<d", self.raw(8))[0]
        return value

    def text(self) -> str:
        """Returns text that is safe to show: invalid UTF-8 and control characters (but newline and tab) as U+FFFD."""
        size = int.from_bytes(self.raw(2), "little")
        if size > MAX_TEXT:
            raise FrameError(f"a text of {size} bytes")
        decoded = self.raw(size).decode("utf-8", "replace")
        return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in decoded)

    def count(self, limit: int) -> int:
        """Returns the number of items that follow. Raises FrameError above ``limit``."""
        value = self.u32()
        if value > limit:
            raise FrameError(f"{value} items where at most {limit} may be")
        return value

    def end(self) -> None:
        if self._at != len(self._payload):
            raise FrameError("a payload that is too long")
