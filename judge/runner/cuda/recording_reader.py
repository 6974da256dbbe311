"""Reads recordings. Copes with any bytes and trusts none of them: the submission shares the process that wrote them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from judge.runner.cuda.address_ranges import AddressRange, AddressRanges
from judge.runner.cuda.recording import (
    Attribute,
    Copy,
    Fill,
    Kernel,
    Launch,
    Place,
    Pointer,
    RawRecording,
    Recording,
    RecordingError,
    Step,
    Work,
    Write,
)
from judge.wire.frames import FrameError, Reader
from judge.wire.messages import MAX_BYTES

MAX_STEPS = 100_000
#: What the driver takes as a kernel's parameters (CUDA C++ Programming Guide, since compute capability 7.0).
MAX_PARAMETER_BYTES = 32764
#: From the host, in one step of the call: more is not copied as fast from where the recording lies.
MOST_WRITTEN_BYTES = 64 << 10
_MAX_ATTRIBUTES = 16
_ATTRIBUTE_BYTES = 64
#: Of CUlaunchAttributeID those whose values mean the same in another process, having no events and no addresses:
#: ignore, cooperative, clusters (4, 5, 11), programmatic stream serialization, priority, memory domains, carveout.
_PORTABLE_ATTRIBUTES = {0, 2, 4, 5, 6, 8, 9, 10, 11, 14}
_POINTER_BYTES = 8
_MAX_NAME_BYTES = 65536


def read_recording(raw: RawRecording, addresses: Sequence[int], guard_bytes: int) -> Recording:
    """Returns the recording that raw bytes describe. Raises RecordingError.

    ``addresses`` are those of the arguments' buffers, 0 for scalars. Pointers may also point into the ``guard_bytes``
    around each buffer.
    """
    if raw.refused:
        raise RecordingError(f"it uses {raw.refused}")
    sizes = dict(raw.buffers)
    arguments = [
        AddressRange(
            address - guard_bytes, guard_bytes + sizes[address] + guard_bytes, Place.ARGUMENT, index, guard_bytes
        )
        for index, address in enumerate(addresses)
        if address in sizes
    ]
    try:
        return _Reading(raw, arguments).read()
    except FrameError as error:
        raise RecordingError(f"a recording that is {error}") from None


@dataclass
class _Reading:
    raw: RawRecording
    arguments: list[AddressRange]
    kernels: list[Kernel] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)
    variables: list[tuple[str, int]] = field(default_factory=list)
    streams: set[int] = field(default_factory=set)

    def read(self) -> Recording:
        self.live = AddressRanges(self.arguments)
        self.host = AddressRanges([])
        before: list[Work] = []
        call: list[Work] = []
        for at, step, payload in _steps(self.raw.steps):
            self.in_call = self.raw.begin <= at < self.raw.end
            work = self._read(step, Reader(payload))
            if work is None or at >= self.raw.end:
                continue
            if self.in_call and not isinstance(work, Attribute):
                call.append(work)
            elif Place.ARGUMENT not in {pointer.place for pointer in _pointers(work)}:
                before.append(work)
        if not call:
            raise RecordingError("it asked nothing of the device in the call")
        if len(self.streams) > 1:
            raise RecordingError("it uses several streams")
        return self._compact(before, call)

    def _compact(self, before: list[Work], call: list[Work]) -> Recording:
        """Without the allocations that nothing uses."""
        used = sorted({p.index for work in (*before, *call) for p in _pointers(work) if p.place is Place.SCRATCH})
        numbers = {index: number for number, index in enumerate(used)}
        moved = [tuple(_renumbered(work, numbers) for work in works) for works in (before, call)]
        scratch = tuple(self.sizes[index] for index in used)
        return Recording(tuple(self.kernels), scratch, tuple(self.variables), *moved)

    def _read(self, step: int, r: Reader) -> Work | None:
        if step == Step.ALLOCATE:
            self._allocate(r.u64(), r.u64(), is_host=bool(r.u32()))
        elif step == Step.RELEASE:
            address = r.u64()
            self.live.remove(address)
            self.host.remove(address)
        elif step == Step.VARIABLE:
            address, size = r.u64(), r.u64()
            self.live.add(AddressRange(address, size, Place.VARIABLE, len(self.variables)))
            self.variables.append((_name(r), size))
        elif step == Step.KERNEL:
            number = r.u32()
            parameters = tuple((r.u32(), r.u32()) for _ in range(r.count(MAX_PARAMETER_BYTES)))
            if any(offset + size > MAX_PARAMETER_BYTES for offset, size in parameters):
                raise RecordingError("parameters beyond all bounds")
            self.numbers[number] = len(self.kernels)
            self.kernels.append(Kernel(_name(r), parameters))
        elif step == Step.ATTRIBUTE:
            return Attribute(self._kernel(r.u32()), r.u32(), r.i32())
        elif step == Step.LAUNCH:
            return self._launch(r)
        elif step == Step.FILL:
            address, size = r.u64(), r.u64()
            self._on(r.u64())
            return Fill(self._region(address, size), size, r.u32() & 0xFF)
        elif step == Step.COPY:
            address, source, size = r.u64(), r.u64(), r.u64()
            self._on(r.u64())
            return Copy(self._region(address, size), self._region(source, size), size)
        elif step == Step.WRITE:
            address = r.u64()
            self._on(r.u64())
            data = r.rest()
            if self.in_call and len(data) > MOST_WRITTEN_BYTES:
                raise RecordingError("its host code copies much to the device in the call")
            return Write(self._region(address, len(data)), data)
        elif step == Step.READ:
            if self.in_call:
                raise RecordingError("its host code reads from the device in the call")
        else:
            raise RecordingError(f"a step that nobody knows: {step}")
        return None

    def _allocate(self, address: int, size: int, *, is_host: bool) -> None:
        if is_host:
            self.host.add(AddressRange(address, size, Place.SCRATCH, -1))
            return
        self.live.add(AddressRange(address, size, Place.SCRATCH, len(self.sizes)))
        self.sizes.append(_bounded(size))

    def _launch(self, r: Reader) -> Launch:
        kernel = self._kernel(r.u32())
        grid, block = (r.u32(), r.u32(), r.u32()), (r.u32(), r.u32(), r.u32())
        shared_bytes, cooperative = r.u32(), bool(r.u32())
        self._on(r.u64())
        attributes = tuple((r.u32(), r.raw(_ATTRIBUTE_BYTES)) for _ in range(r.count(_MAX_ATTRIBUTES)))
        if {number for number, _ in attributes} - _PORTABLE_ATTRIBUTES:
            raise RecordingError("its launches have attributes that mean nothing in another process")
        parameters = r.rest()
        if len(parameters) != max((sum(each) for each in self.kernels[kernel].parameters), default=0):
            raise RecordingError("a launch with parameters of another kernel")
        pointers = tuple(self._pointers_in(parameters))
        return Launch(kernel, grid, block, shared_bytes, cooperative, attributes, parameters, pointers)

    def _pointers_in(self, parameters: bytes) -> Iterator[tuple[int, Pointer]]:
        for at in range(0, len(parameters) - _POINTER_BYTES + 1, _POINTER_BYTES):
            (word,) = struct.unpack_from("<Q", parameters, at)
            if self.host.find(word) is not None:
                raise RecordingError("its kernels use memory of the host")
            pointer = self.live.find(word)
            if pointer is not None:
                yield at, pointer

    def _region(self, address: int, size: int) -> Pointer:
        pointer = self.live.find(address, size)
        if pointer is None:
            raise RecordingError("it uses memory that it was not seen to allocate")
        return pointer

    def _kernel(self, number: int) -> int:
        if number not in self.numbers:
            raise RecordingError("a launch of a kernel that nobody knows")
        return self.numbers[number]

    def _on(self, stream: int) -> None:
        """Work of a stream. 0 and 1 are names of the same (cudaStreamLegacy)."""
        if self.in_call:
            self.streams.add(0 if stream == 1 else stream)


def _steps(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yields the start, number and payload of each step."""
    at = count = 0
    while at < len(data):
        head = Reader(data[at : at + 8])
        step, size = head.u32(), head.u32()
        count += 1
        if count > MAX_STEPS or at + 8 + size > len(data):
            raise RecordingError("a recording that breaks off, or is too long")
        yield at, step, data[at + 8 : at + 8 + size]
        at += 8 + size


def _pointers(work: Work) -> tuple[Pointer, ...]:
    if isinstance(work, Launch):
        return tuple(pointer for _, pointer in work.pointers)
    if isinstance(work, Copy):
        return work.to, work.source
    return () if isinstance(work, Attribute) else (work.to,)


def _renumbered(work: Work, numbers: dict[int, int]) -> Work:
    def new(pointer: Pointer) -> Pointer:
        return replace(pointer, index=numbers[pointer.index]) if pointer.place is Place.SCRATCH else pointer

    if isinstance(work, Launch):
        return replace(work, pointers=tuple((at, new(pointer)) for at, pointer in work.pointers))
    if isinstance(work, Copy):
        return replace(work, to=new(work.to), source=new(work.source))
    return work if isinstance(work, Attribute) else replace(work, to=new(work.to))


def _name(r: Reader) -> str:
    name = r.rest()
    if len(name) > _MAX_NAME_BYTES:
        raise RecordingError("a name beyond all bounds")
    return name.decode("ascii", "replace")


def _bounded(size: int) -> int:
    if size > MAX_BYTES:
        raise RecordingError("memory beyond all bounds")
    return size
