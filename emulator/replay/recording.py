"""A recording as data: the program's modules, and the steps that it took on the device (``native/replay/recording.h``).

Whoever shares the process that records can make it say anything. What is done with it must hold for any bytes.
"""

from __future__ import annotations

import struct

from records import dataclass

_HEAD = struct.Struct("<II")  # version, modules
_MODULE = struct.Struct("<Q32s")
_VERSION = 1
_MOST_MODULES = 64


class RecordingError(Exception):
    """There is no recording, or it cannot be replayed; the message says why."""


@dataclass(frozen=True, slots=True)
class Transfers:
    """Counts of what a program moved between host and device in its last call.

    They are how often and how many bytes it copied from the host, to the host, and on the device; its memsets; the
    allocations and variables that host and device share, of which only what the host writes is counted; how often it
    registered memory of the host (``cudaHostRegister``), which a replay does not have; and the processor time of its
    own code on the host in nanoseconds, while the device was idle and while it had work.
    """

    writes: int = 0
    written_bytes: int = 0
    reads: int = 0
    read_bytes: int = 0
    copies: int = 0
    copied_bytes: int = 0
    fills: int = 0
    filled_bytes: int = 0
    shared: int = 0
    registered: int = 0
    host_ns: int = 0
    overlapped_host_ns: int = 0

    @property
    def operations(self) -> int:
        """How many copies and memsets there are."""
        return self.writes + self.reads + self.copies + self.fills

    @property
    def tells_the_host(self) -> bool:
        """Whether the host may have learnt anything of what was computed in the last call."""
        return bool(self.reads or self.shared)


@dataclass(frozen=True, slots=True)
class Recording:
    """``modules``: by the numbers that the steps use, the hash of each one's text (``runtime.modules.digest_of``)."""

    modules: dict[int, bytes]
    steps: bytes

    def pack(self) -> bytes:
        modules = b"".join(_MODULE.pack(number, digest) for number, digest in self.modules.items())
        return _HEAD.pack(_VERSION, len(self.modules)) + modules + self.steps

    @classmethod
    def unpack(cls, data: bytes) -> Recording:
        """Raises RecordingError. The steps are looked at when they are done again."""
        try:
            version, count = _HEAD.unpack_from(data)
            if version != _VERSION or count > _MOST_MODULES:
                raise RecordingError("not a recording")
            modules = dict(_MODULE.unpack_from(data, _HEAD.size + index * _MODULE.size) for index in range(count))
        except struct.error:
            raise RecordingError("a recording that breaks off") from None
        return cls(modules, data[_HEAD.size + count * _MODULE.size :])
