"""A recording: what a submission asked of the CUDA runtime in one call, as data that other buffers can replay.

``judge/compile/recorder.cpp`` wrote it, or ``python_steps``, in a process that the submission shares. So it is a claim:
``recording_reader`` reads it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from judge.wire.frames import MAX_ARGUMENTS, FrameError, Reader, Writer


class RecordingError(Exception):
    """There is no recording, or it cannot be replayed; the message says why."""


class Step(enum.IntEnum):
    """The steps that are written down, numbered as in recorder.cpp."""

    ALLOCATE = 1
    RELEASE = 2
    VARIABLE = 3
    KERNEL = 4
    ATTRIBUTE = 5
    LAUNCH = 6
    FILL = 7
    COPY = 8
    WRITE = 9
    READ = 10


class Place(enum.Enum):
    """The owner of an address."""

    ARGUMENT = "argument"
    SCRATCH = "scratch"
    VARIABLE = "variable"


@dataclass(frozen=True, slots=True)
class Pointer:
    """``offset`` bytes from the start of the argument, scratch allocation or variable numbered ``index``."""

    place: Place
    index: int
    offset: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """``parameters`` has the offset and size of each."""

    name: str
    parameters: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """``kernel`` is its number in ``Recording.kernels``.

    ``pointers`` has the pointers in the bytes of the parameters, by offset. ``attributes`` has number and value, as in
    ``CUlaunchAttribute``.
    """

    kernel: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    cooperative: bool
    attributes: tuple[tuple[int, bytes], ...]
    parameters: bytes
    pointers: tuple[tuple[int, Pointer], ...]


@dataclass(frozen=True, slots=True)
class Fill:
    """Sets ``size`` bytes to ``value``."""

    to: Pointer
    size: int
    value: int


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of ``size`` bytes on the device."""

    to: Pointer
    source: Pointer
    size: int


@dataclass(frozen=True, slots=True)
class Write:
    """A copy of ``data`` from the host."""

    to: Pointer
    data: bytes


@dataclass(frozen=True, slots=True)
class Attribute:
    """A function's attribute, as ``cuFuncSetAttribute`` takes it."""

    kernel: int
    which: int
    value: int


Work = Launch | Fill | Copy | Write | Attribute


@dataclass(frozen=True, slots=True)
class Recording:
    """The operations of a call, ready to be replayed.

    ``scratch`` has the sizes of the allocations in use, ``variables`` name and size. ``before`` runs once, ``call``
    each time. ``before`` leaves out what earlier calls did to the arguments' buffers, and sets each attribute once.
    """

    kernels: tuple[Kernel, ...]
    scratch: tuple[int, ...]
    variables: tuple[tuple[str, int], ...]
    before: tuple[Work, ...]
    call: tuple[Work, ...]


@dataclass(frozen=True, slots=True)
class RawRecording:
    """A recording as it crosses the wire.

    ``buffers`` has address and size of those that the arguments may be. The last call's steps are ``begin:end`` of
    ``steps``. ``refused`` names what could not be recorded.
    """

    buffers: tuple[tuple[int, int], ...]
    begin: int
    end: int
    refused: str
    steps: bytes

    def pack(self) -> bytes:
        out = Writer().u32(len(self.buffers))
        for address, size in self.buffers:
            out.u64(address).u64(size)
        return out.u64(self.begin).u64(self.end).text(self.refused).payload() + self.steps

    @classmethod
    def unpack(cls, data: bytes) -> RawRecording:
        """Reads a recording. Raises RecordingError."""
        try:
            r = Reader(data[: 1 << 16])
            buffers = tuple((r.u64(), r.u64()) for _ in range(r.count(MAX_ARGUMENTS)))
            raw = cls(buffers, r.u64(), r.u64(), r.text(), b"")
        except FrameError as error:
            raise RecordingError(f"a recording that is {error}") from None
        return replace(raw, steps=data[len(raw.pack()) :])
