"""The messages of timed calls, which are made in bursts.

RESERVE allocates the arenas of a case, one for each input and one per call of a burst for each output, so that a burst
allocates nothing. STAGE copies a masked input to the device. TIME describes a burst and prepares its first call. For
each call then, SOLVE calls ``solve`` and does nothing else; COMMIT reports its time, checks guard bands and inputs,
digests its outputs, and prepares the next call. OPEN copies the outputs of one call out, with the digests of their
pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

from judge.wire.digest import DIGEST_BYTES
from judge.wire.frames import MAX_ARGUMENTS, FrameError, Reader, Writer
from judge.wire.messages import MAX_BYTES, RunReply
from judge.wire.recipe import MAX_STAGES, Recipe, pack_recipe, unpack_recipe

MAX_CALLS = 256
#: Shifts are multiples of this, as buffers are aligned to it.
SHIFT_BYTES = 256


@dataclass(frozen=True, slots=True)
class ReserveRequest:
    """Allocates arenas, and frees all earlier ones and the staged inputs.

    ``rooms`` gives for each argument the bytes of its largest buffer and its largest shift together; 0 for scalars.
    ``places`` is the number of calls whose outputs are kept.
    """

    rooms: tuple[int, ...]
    places: int

    def pack(self) -> bytes:
        out = Writer().u32(self.places).u32(len(self.rooms))
        for room in self.rooms:
            out.u64(room)
        return out.payload()

    @classmethod
    def unpack(cls, payload: bytes) -> ReserveRequest:
        r = Reader(payload)
        places = r.count(MAX_CALLS)
        rooms = tuple(r.u64() for _ in range(r.count(MAX_ARGUMENTS)))
        r.end()
        if any(room > MAX_BYTES for room in rooms):
            raise FrameError("an arena beyond all bounds")
        return cls(rooms, places)


@dataclass(frozen=True, slots=True)
class StageRequest:
    """Copies ``size`` bytes at ``input_offset`` of the shared inputs to the staging buffer ``index``."""

    index: int
    input_offset: int
    size: int

    def pack(self) -> bytes:
        return Writer().u32(self.index).u64(self.input_offset).u64(self.size).payload()

    @classmethod
    def unpack(cls, payload: bytes) -> StageRequest:
        r = Reader(payload)
        request = cls(r.count(MAX_STAGES - 1), r.u64(), r.u64())
        r.end()
        return request


@dataclass(frozen=True, slots=True)
class TimedSlot:
    """One argument of a timed call.

    Scalars have ``value``; buffers have the other fields. ``recipe`` makes an input, ``fill`` is the byte that an
    output is filled with. The buffer begins ``shift`` bytes into its arena; an output lies in the arena number
    ``place``. Outputs are copied to ``output_offset`` of the shared memory, the digests of their pieces to
    ``digests_offset``.
    """

    value: bytes = bytes(8)
    size: int = 0
    output_offset: int = 0
    digests_offset: int = 0
    fill: int = 0
    recipe: Recipe | None = None
    shift: int = 0
    place: int = 0


@dataclass(frozen=True, slots=True)
class TimedCall:
    """One call. ``copy`` copies its outputs out at once instead of digesting them."""

    slots: tuple[TimedSlot, ...]
    copy: bool = False


@dataclass(frozen=True, slots=True)
class TimeRequest:
    """Asks for these calls, one after the other."""

    calls: tuple[TimedCall, ...]

    def pack(self) -> bytes:
        out = Writer().u32(len(self.calls))
        for call in self.calls:
            out.u8(call.copy).u32(len(call.slots))
            for slot in call.slots:
                out.raw(slot.value).u64(slot.size).u64(slot.output_offset).u64(slot.digests_offset).u8(slot.fill)
                out.u64(slot.shift).u32(slot.place).u8(slot.recipe is not None)
                if slot.recipe is not None:
                    pack_recipe(out, slot.recipe)
        return out.payload()

    @classmethod
    def unpack(cls, payload: bytes) -> TimeRequest:
        r = Reader(payload)
        calls = tuple(_unpack_call(r) for _ in range(r.count(MAX_CALLS)))
        r.end()
        return cls(calls)


@dataclass(frozen=True, slots=True)
class CommitReply:
    """The time of a call and the state it left.

    ``damage`` is as in FetchReply. ``digests`` has one digest for each output, in order; none where outputs were
    copied. ``finished`` is False after an error from which the device cannot go on; nothing was checked then.
    ``preempted`` says that another process had the processor at some time since the call was prepared.
    """

    ran: RunReply
    damage: tuple[int, ...] = ()
    digests: tuple[bytes, ...] = ()
    finished: bool = True
    preempted: bool = False

    def pack(self) -> bytes:
        ran = self.ran
        out = Writer().f64(ran.elapsed_s).i32(ran.code).text(ran.name).text(ran.message).u8(self.finished)
        out.u8(self.preempted)
        out.u32(len(self.damage)).raw(bytes(self.damage))
        return out.u32(len(self.digests)).raw(b"".join(self.digests)).payload()

    @classmethod
    def unpack(cls, payload: bytes) -> CommitReply:
        r = Reader(payload)
        ran = RunReply(r.f64(), r.i32(), r.text(), r.text())
        finished, preempted, damage = bool(r.u8()), bool(r.u8()), tuple(r.raw(r.count(MAX_ARGUMENTS)))
        digests = tuple(r.raw(DIGEST_BYTES) for _ in range(r.count(MAX_ARGUMENTS)))
        r.end()
        return cls(ran, damage, digests, finished, preempted)


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Copies the outputs of this call of the last burst to their output offsets, and the digests of their pieces (the
    first level of ``judge.wire.digest``'s tree) to their digests offsets."""

    call: int

    def pack(self) -> bytes:
        return Writer().u32(self.call).payload()

    @classmethod
    def unpack(cls, payload: bytes) -> OpenRequest:
        r = Reader(payload)
        request = cls(r.count(MAX_CALLS - 1))
        r.end()
        return request


def _unpack_call(r: Reader) -> TimedCall:
    copy = bool(r.u8())
    return TimedCall(tuple(_unpack_slot(r) for _ in range(r.count(MAX_ARGUMENTS))), copy)


def _unpack_slot(r: Reader) -> TimedSlot:
    value, size, output_offset, digests_offset, fill = r.raw(8), r.u64(), r.u64(), r.u64(), r.u8()
    shift, place = r.u64(), r.count(MAX_CALLS - 1)
    if size > MAX_BYTES or shift > MAX_BYTES or shift % SHIFT_BYTES:
        raise FrameError("a buffer where none can be")
    made = unpack_recipe(r) if r.u8() else None
    return TimedSlot(value, size, output_offset, digests_offset, fill, made, shift, place)
