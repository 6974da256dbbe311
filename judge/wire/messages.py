"""The payloads of the frames, one frozen class each, with ``pack`` and ``unpack``. Import-light, like the frames.

Requests come from the supervisor and are trusted. Replies come from a process that an attacker shares, and are claims.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from judge.wire.call_shapes import pack_extents, unpack_extents
from judge.wire.elements import Element
from judge.wire.frames import MAX_ARGUMENTS, FrameError, Reader, Role, Writer
from judge.wire.profiles import ProfileClaim, pack_profiles, unpack_profiles

#: Loads a shared object with a native ``solve``.
NATIVE_LOADER = "judge.runner.submission"
#: The name of the error of a call whose host code raised an exception; the message says which.
RAISED = "raised"
MAX_FAULTS = 20
#: Failed calls of the runtime's functions that are told, and how many of the frames that each was made from.
MAX_CALLS, MAX_FRAMES = 20, 16
#: Lines that reach shared memory, and how long the names are that they have.
MAX_EXTENTS, MAX_EXTENT_NAME = 512, 128
#: Kernels of one program whose registers are told.
MAX_KERNELS = 4096
#: The largest buffer or shared memory region; it bounds what a forged number can ask for.
MAX_BYTES = 1 << 40


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """One argument of ``solve``, in order.

    ``name`` labels the buffer in the emulator's reports; ``element`` is the type of its elements, or of the scalar.
    """

    name: str
    role: Role
    element: Element


@dataclass(frozen=True, slots=True)
class StartRequest:
    """Starts the device; it says nothing about the submission.

    ``library`` is the emulator's native library or, for a GPU, the machine code of the judge's own kernels; empty for a
    device that needs none. ``threads`` is how many the emulator starts. ``pytorch`` is what programs in Python have of
    PyTorch, ``tensors`` or ``functions`` (``JudgeSettings.pytorch``); empty: stand-ins.
    """

    device_module: str
    ordinal: int
    library: str
    threads: int
    input_bytes: int
    output_bytes: int
    lock: bool
    pytorch: str = ""

    def pack(self) -> bytes:
        out = Writer().text(self.device_module).u32(self.ordinal).text(self.library).u32(self.threads)
        return out.u64(self.input_bytes).u64(self.output_bytes).u8(self.lock).text(self.pytorch).payload()

    @classmethod
    def unpack(cls, payload: bytes) -> StartRequest:
        r = Reader(payload)
        request = cls(r.text(), r.u32(), r.text(), r.u32(), r.u64(), r.u64(), bool(r.u8()), r.text())
        r.end()
        return request


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """Loads the submission under its limits, of which 0 means none.

    ``gpu`` names the GPU whose size and speed the emulator tells programs; empty leaves it to the emulator.
    ``processor`` is the processor that the process stays on, None if any will do. ``own_streams`` says that the
    submission may use streams that do not wait for the default one. ``registers`` are those of a thread of each kernel,
    by its mangled name, for the emulator, which has no machine code to find them in. ``threads`` are those that the
    emulator works on, no more than it was started with. ``loader`` is the module that loads the submission's file.
    """

    arguments: tuple[ArgumentSpec, ...]
    memory_bytes: int = 0
    warp_instructions: int = 0
    wall_s: float = 0.0
    gpu: str = ""
    processor: int | None = None
    own_streams: bool = False
    registers: tuple[tuple[str, int], ...] = ()
    threads: int = 0
    loader: str = NATIVE_LOADER

    def pack(self) -> bytes:
        out = Writer().u64(self.memory_bytes).u64(self.warp_instructions).f64(self.wall_s)
        out.text(self.gpu).i32(-1 if self.processor is None else self.processor)
        out.u8(self.own_streams).u32(self.threads).u32(len(self.arguments))
        for argument in self.arguments:
            out.text(argument.name).u8(argument.role).u8(argument.element)
        out.u32(len(self.registers))
        for kernel, count in self.registers:
            out.text(kernel).u32(count)
        return out.text(self.loader).payload()

    @classmethod
    def unpack(cls, payload: bytes) -> LoadRequest:
        r = Reader(payload)
        limits = r.u64(), r.u64(), r.f64(), r.text()
        processor, own_streams, threads = r.i32(), bool(r.u8()), r.u32()
        arguments = tuple(ArgumentSpec(r.text(), Role(r.u8()), Element(r.u8())) for _ in range(r.count(MAX_ARGUMENTS)))
        registers = tuple((r.text(), r.u32()) for _ in range(r.count(MAX_KERNELS)))
        loader = r.text()
        r.end()
        return cls(arguments, *limits, processor if processor >= 0 else None, own_streams, registers, threads, loader)


@dataclass(frozen=True, slots=True)
class Slot:
    """One argument of a call. Scalars have ``value`` (8 bytes, little-endian); buffers have the other fields.

    Offsets count from the start of the shared input and output memory. ``fill`` is the byte that an ``out`` buffer is
    filled with before the call. ``shape`` are the extents of a buffer, for languages whose arrays have some.
    """

    value: bytes = bytes(8)
    size: int = 0
    input_offset: int = 0
    output_offset: int = 0
    fill: int = 0
    shape: tuple[int, ...] = ()


class Watch(enum.IntFlag):
    """How the emulator runs the next call: what it records or checks, which is slow, and how. A GPU ignores it."""

    NOTHING = 0
    PROFILE = 1
    #: racecheck and initcheck.
    CHECKS = 2
    #: A warp may go on from a barrier to the next one while the others have not begun.
    RUNS_AHEAD = 4


_PROFILE_SLOWDOWN = 10.0


def kernel_time_factor(watch: Watch) -> float:
    """Returns how long a kernel may run in a call with ``watch``, as a multiple of the usual time.

    Checks slow kernels down as well, but a call that takes too long with them is made again without them. So an endless
    loop costs twice the usual time and not eleven times.
    """
    return _PROFILE_SLOWDOWN if Watch.PROFILE in watch else 1.0


@dataclass(frozen=True, slots=True)
class PrepareRequest:
    """Prepares the next call: uploads inputs, fills outputs, flushes caches, waits for the device.

    The emulator draws the order of warps and blocks from ``schedule_seed``; 0 leaves them in the order of their
    numbers.
    """

    slots: tuple[Slot, ...]
    watch: Watch = Watch.NOTHING
    schedule_seed: int = 0

    def pack(self) -> bytes:
        out = Writer().u8(self.watch).u64(self.schedule_seed).u32(len(self.slots))
        for slot in self.slots:
            out.raw(slot.value).u64(slot.size).u64(slot.input_offset).u64(slot.output_offset).u8(slot.fill)
            pack_extents(out, slot.shape)
        return out.payload()

    @classmethod
    def unpack(cls, payload: bytes) -> PrepareRequest:
        r = Reader(payload)
        watch, schedule_seed = Watch(r.u8()), r.u64()
        slots = tuple(
            Slot(r.raw(8), r.u64(), r.u64(), r.u64(), r.u8(), unpack_extents(r)) for _ in range(r.count(MAX_ARGUMENTS))
        )
        r.end()
        if any(slot.size > MAX_BYTES for slot in slots):
            raise FrameError("a buffer beyond all bounds")
        return cls(slots, watch, schedule_seed)


@dataclass(frozen=True, slots=True)
class FailedReply:
    """Why a request failed. ``code`` and ``name`` are those of a CUDA error, else 0 and empty."""

    failure: int
    code: int
    name: str
    message: str

    def pack(self) -> bytes:
        return Writer().u8(self.failure).i32(self.code).text(self.name).text(self.message).payload()

    @classmethod
    def unpack(cls, payload: bytes) -> FailedReply:
        r = Reader(payload)
        reply = cls(r.u8(), r.i32(), r.text(), r.text())
        r.end()
        return reply


@dataclass(frozen=True, slots=True)
class RunReply:
    """``solve`` returned and the device is idle. ``elapsed_s`` is the device's own time, negative when it has none.

    ``code`` is the CUDA error left behind; 0 means none.
    """

    elapsed_s: float
    code: int
    name: str
    message: str

    def pack(self) -> bytes:
        return Writer().f64(self.elapsed_s).i32(self.code).text(self.name).text(self.message).payload()

    @classmethod
    def unpack(cls, payload: bytes) -> RunReply:
        r = Reader(payload)
        reply = cls(r.f64(), r.i32(), r.text(), r.text())
        r.end()
        return reply


@dataclass(frozen=True, slots=True)
class PartyClaim:
    """The other access of a data race."""

    file: str
    line: int
    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    is_write: bool


@dataclass(frozen=True, slots=True)
class FaultClaim:
    """An error of a kernel that the emulator reports. ``line`` 0 and empty texts mean unknown.

    ``frames`` are, of a race with the host, the offsets in the library of its access and of the calls that led to it,
    innermost first.
    """

    kind: str
    is_write: bool
    message: str
    kernel: str
    file: str
    line: int
    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    other: PartyClaim | None = None
    frames: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CallClaim:
    """A call of a runtime function that failed, as the emulator reports it.

    ``why`` is empty where nothing is known but the error's ``name``. ``asked`` says that the program looked at errors
    afterwards. ``frames`` are the offsets in the library of the calls that led to it, innermost first.
    """

    call: str
    name: str
    why: str = ""
    asked: bool = False
    frames: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtentClaim:
    """The bytes of shared memory that a line reads, or those that it writes; see ``emulator.runtime.report``.

    ``first`` and ``last`` are the thread and the block that reach the outermost.
    """

    kernel: str
    file: str
    launch: int
    begin: int
    end: int
    line: int
    is_write: bool
    first: tuple[tuple[int, int, int], tuple[int, int, int]]
    last: tuple[tuple[int, int, int], tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class ReportClaim:
    """The emulator's report of one call. ``limit`` is empty, ``memory``, ``instructions`` or ``wall``."""

    warp_instructions: int = 0
    launches: int = 0
    fault_count: int = 0
    limit: str = ""
    unsupported: str = ""
    faults: tuple[FaultClaim, ...] = ()
    profiles: tuple[ProfileClaim, ...] = ()
    calls: tuple[CallClaim, ...] = ()
    extents: tuple[ExtentClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchReply:
    """The answer to a fetch: the outputs lie in the shared memory.

    ``damage`` has for each argument the sum of: guard band overwritten before it (1), after it (2), input changed (4).
    """

    damage: tuple[int, ...]
    report: ReportClaim | None

    def pack(self) -> bytes:
        out = Writer().u32(len(self.damage)).raw(bytes(self.damage)).u8(self.report is not None)
        if self.report is not None:
            out.u64(self.report.warp_instructions).u64(self.report.launches).u64(self.report.fault_count)
            out.text(self.report.limit).text(self.report.unsupported).u32(len(self.report.faults))
            for fault in self.report.faults:
                out.text(fault.kind).u8(fault.is_write).text(fault.message).text(fault.kernel).text(fault.file)
                _pack_place(out.u32(fault.line), fault.thread, fault.block)
                out.u8(fault.other is not None)
                if fault.other is not None:
                    out.text(fault.other.file).u32(fault.other.line).u8(fault.other.is_write)
                    _pack_place(out, fault.other.thread, fault.other.block)
                _pack_frames(out, fault.frames)
            pack_profiles(out, self.report.profiles)
            out.u32(len(self.report.calls))
            for call in self.report.calls:
                out.text(call.call).text(call.name).text(call.why).u8(call.asked)
                _pack_frames(out, call.frames)
            out.u32(len(self.report.extents))
            for extent in self.report.extents:
                out.text(extent.kernel[:MAX_EXTENT_NAME]).text(extent.file[:MAX_EXTENT_NAME])
                out.u32(extent.launch).u64(extent.begin).u64(extent.end).u32(extent.line).u8(extent.is_write)
                _pack_place(out, *extent.first)
                _pack_place(out, *extent.last)
        return out.payload()

    @classmethod
    def unpack(cls, payload: bytes) -> FetchReply:
        r = Reader(payload)
        damage = tuple(r.raw(r.count(MAX_ARGUMENTS)))
        report = None
        if r.u8():
            head = (r.u64(), r.u64(), r.u64(), r.text(), r.text())
            faults = tuple(_unpack_fault(r) for _ in range(r.count(MAX_FAULTS)))
            profiles = unpack_profiles(r)
            calls = tuple(_unpack_call(r) for _ in range(r.count(MAX_CALLS)))
            extents = tuple(_unpack_extent(r) for _ in range(r.count(MAX_EXTENTS)))
            report = ReportClaim(*head, faults, profiles, calls, extents)
        r.end()
        return cls(damage, report)


def _pack_place(out: Writer, thread: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    for number in (*thread, *block):
        out.u32(number)


def _unpack_place(r: Reader) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    return (r.u32(), r.u32(), r.u32()), (r.u32(), r.u32(), r.u32())


def _pack_frames(out: Writer, frames: tuple[int, ...]) -> None:
    out.u32(len(frames))
    for frame in frames:
        out.u64(frame)


def _unpack_frames(r: Reader) -> tuple[int, ...]:
    return tuple(r.u64() for _ in range(r.count(MAX_FRAMES)))


def _unpack_fault(r: Reader) -> FaultClaim:
    head = (r.text(), bool(r.u8()), r.text(), r.text(), r.text(), r.u32())
    return FaultClaim(*head, *_unpack_place(r), _unpack_party(r) if r.u8() else None, _unpack_frames(r))


def _unpack_call(r: Reader) -> CallClaim:
    head = (r.text(), r.text(), r.text(), bool(r.u8()))
    return CallClaim(*head, _unpack_frames(r))


def _unpack_extent(r: Reader) -> ExtentClaim:
    head = (r.text(), r.text(), r.u32(), r.u64(), r.u64(), r.u32(), bool(r.u8()))
    return ExtentClaim(*head, _unpack_place(r), _unpack_place(r))


def _unpack_party(r: Reader) -> PartyClaim:
    file, line, is_write = r.text(), r.u32(), bool(r.u8())
    return PartyClaim(file, line, *_unpack_place(r), is_write)
