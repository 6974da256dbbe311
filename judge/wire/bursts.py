"""The messages of timed calls, which are made in bursts.

Before the submission is loaded, RESERVE allocates all the device memory that its calls will take, and POOL fills the
pool (``judge.packs.collection.pool``). STAGE copies a masked input to the device. For each call, UNDO takes back what
earlier calls may have left in the device's caches, PLACE describes the call and makes its inputs, SOLVE calls ``solve``
and does nothing else, and COMMIT reports its time, checks guard bands and inputs, and digests its outputs. OPEN copies
the outputs of one call of the burst out, with the digests of their pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

from judge.wire.call_shapes import pack_extents, unpack_extents
from judge.wire.digest import DIGEST_BYTES
from judge.wire.frames import MAX_ARGUMENTS, FrameError, Reader, Writer
from judge.wire.messages import MAX_BYTES, RunReply
from judge.wire.recipe import Recipe, pack_recipe, unpack_recipe

MAX_CALLS = 256
#: Shifts are multiples of this, as buffers are aligned to it.
SHIFT_BYTES = 256
#: The most bytes of a guard band on either side of a buffer. It may be read but not written: room for a tile that a
#: kernel loads beyond the end of its input. Buffers of one arena lie at least this far apart.
GUARD_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class ReserveRequest:
    """Reserves device memory, before anything is loaded: what cannot be had later is the submission's doing.

    ``rooms`` gives for each argument the bytes of its arena; 0 for scalars. ``staged`` and ``pool`` are the bytes of
    masked inputs and of the pool. ``spare`` bytes are freed once the submission is loaded, so that the buffers of
    judged calls find room. The first ``pinned`` bytes of the shared outputs are made ready for fast copies.
    """

    rooms: tuple[int, ...] = ()
    staged: int = 0
    pool: int = 0
    spare: int = 0
    pinned: int = 0

    def pack(self) -> bytes:
        out = Writer().u64(self.staged).u64(self.pool).u64(self.spare).u64(self.pinned).u32(len(self.rooms))
        for room in self.rooms:
            out.u64(room)
        return out.payload()

    @classmethod
    def unpack(cls, payload: bytes) -> ReserveRequest:
        r = Reader(payload)
        staged, pool, spare, pinned = r.u64(), r.u64(), r.u64(), r.u64()
        rooms = tuple(r.u64() for _ in range(r.count(MAX_ARGUMENTS)))
        r.end()
        if any(room > MAX_BYTES for room in (staged, pool, spare, pinned, *rooms)):
            raise FrameError("an arena beyond all bounds")
        return cls(rooms, staged, pool, spare, pinned)


@dataclass(frozen=True, slots=True)
class PieceRequest:
    """A request to copy a part of the shared inputs to the device.

    Copies ``size`` bytes at ``input_offset`` of the shared inputs to ``offset`` of the pool (POOL) or of the staged
    inputs (STAGE).
    """

    offset: int
    input_offset: int
    size: int

    def pack(self) -> bytes:
        return Writer().u64(self.offset).u64(self.input_offset).u64(self.size).payload()

    @classmethod
    def unpack(cls, payload: bytes) -> PieceRequest:
        r = Reader(payload)
        request = cls(r.u64(), r.u64(), r.u64())
        r.end()
        return request


@dataclass(frozen=True, slots=True)
class TimedSlot:
    """One argument of a timed call.

    Scalars have ``value``; buffers have the other fields. ``recipe`` makes an input, ``fill`` is the byte that an
    output is filled with. The buffer begins ``shift`` bytes into its arena. Outputs are copied to ``output_offset`` of
    the shared memory, the digests of their pieces to ``digests_offset``. ``shape`` are the extents of a buffer.
    """

    value: bytes = bytes(8)
    size: int = 0
    output_offset: int = 0
    digests_offset: int = 0
    fill: int = 0
    recipe: Recipe | None = None
    shift: int = 0
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TimedCall:
    """One call. ``copy`` copies its outputs out at once instead of digesting them."""

    slots: tuple[TimedSlot, ...]
    copy: bool = False


@dataclass(frozen=True, slots=True)
class PlaceRequest:
    """Makes a call ready: number ``index`` of its burst, whose earlier calls were made. Number 0 begins a new burst."""

    index: int
    call: TimedCall

    def pack(self) -> bytes:
        out = Writer().u32(self.index).u8(self.call.copy).u32(len(self.call.slots))
        for slot in self.call.slots:
            out.raw(slot.value).u64(slot.size).u64(slot.output_offset).u64(slot.digests_offset).u8(slot.fill)
            pack_extents(out.u64(slot.shift), slot.shape)
            out.u8(slot.recipe is not None)
            if slot.recipe is not None:
                pack_recipe(out, slot.recipe)
        return out.payload()

    @classmethod
    def unpack(cls, payload: bytes) -> PlaceRequest:
        r = Reader(payload)
        index, copy = r.count(MAX_CALLS - 1), bool(r.u8())
        slots = tuple(_unpack_slot(r) for _ in range(r.count(MAX_ARGUMENTS)))
        r.end()
        return cls(index, TimedCall(slots, copy))


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
    """A request for the outputs of a call of the burst, which has the number ``call``.

    Copies the outputs to their output offsets, and the digests of their pieces (the first level of
    ``judge.wire.digest``'s tree) to their digests offsets.
    """

    call: int

    def pack(self) -> bytes:
        return Writer().u32(self.call).payload()

    @classmethod
    def unpack(cls, payload: bytes) -> OpenRequest:
        r = Reader(payload)
        request = cls(r.count(MAX_CALLS - 1))
        r.end()
        return request


def _unpack_slot(r: Reader) -> TimedSlot:
    value, size, output_offset, digests_offset, fill = r.raw(8), r.u64(), r.u64(), r.u64(), r.u8()
    shift, shape = r.u64(), unpack_extents(r)
    if size > MAX_BYTES or shift > MAX_BYTES or shift % SHIFT_BYTES:
        raise FrameError("a buffer where none can be")
    made = unpack_recipe(r) if r.u8() else None
    return TimedSlot(value, size, output_offset, digests_offset, fill, made, shift, shape)
