from __future__ import annotations

import contextlib
import dataclasses
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.wire.bursts import (
    CommitReply,
    OpenRequest,
    PieceRequest,
    PlaceRequest,
    ReserveRequest,
    TimedCall,
    TimedSlot,
)
from judge.wire.digest import PIECE_BYTES, tree_digest
from judge.wire.elements import Element
from judge.wire.frames import FrameError
from judge.wire.messages import RunReply
from judge.wire.recipe import Changes, Kind, Planted, Recipe

RECIPE = Recipe(
    Kind.NORMAL,
    Element.FLOAT16,
    (1, 2),
    0.5,
    0.25,
    sentinels=Planted(5, b"\1" * 8, b"\2" * 8, (3, 4)),
    changes=Changes(7, (5, 6), (7, 8)),
    pool=1 << 39,
)
SLOT = TimedSlot(size=12, shift=4096, recipe=RECIPE)
CALL = TimedCall((SLOT, TimedSlot(size=8, output_offset=4096, digests_offset=8192, fill=255), TimedSlot(b"12345678")))
DIGEST = bytes(range(32))


@pytest.mark.parametrize(
    "message",
    [
        ReserveRequest((1 << 30, 0, 256), 9, 1 << 31, 77),
        PieceRequest(3, 4096, 17),
        PlaceRequest(3, CALL),
        PlaceRequest(0, dataclasses.replace(CALL, copy=True)),
        CommitReply(RunReply(1e-3, 0, "", ""), (0, 4), (DIGEST, DIGEST)),
        CommitReply(RunReply(1e-3, 1, "cudaErrorInvalidValue", "invalid argument"), (0, 1, 2), ()),
        CommitReply(RunReply(1e-3, 0, "", ""), (0,), (DIGEST,), preempted=True),
        CommitReply(RunReply(-1.0, 700, "cudaErrorIllegalAddress", "an illegal access"), finished=False),
        OpenRequest(2),
    ],
)
def test_a_message_comes_back_as_it_was_sent(message: OpenRequest) -> None:
    assert type(message).unpack(message.pack()) == message


@pytest.mark.parametrize("slot", [TimedSlot(size=1 << 50), TimedSlot(shift=1 << 50), TimedSlot(shift=100)])
def test_buffers_where_none_can_be_are_refused(slot: TimedSlot) -> None:
    with pytest.raises(FrameError):
        PlaceRequest.unpack(PlaceRequest(0, TimedCall((slot,))).pack())


@given(st.binary(max_size=300))
def test_replies_never_raise_anything_but_frame_errors(payload: bytes) -> None:
    with contextlib.suppress(FrameError):
        CommitReply.unpack(payload)


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 128 * PIECE_BYTES, 129 * PIECE_BYTES + 7])
def test_the_digest_is_the_tree_that_its_docstring_tells_of(size: int) -> None:
    data = bytes(index * 7 % 251 for index in range(size))

    def level(content: bytes) -> bytes:
        pieces = [content[at : at + PIECE_BYTES] for at in range(0, len(content), PIECE_BYTES)] or [b""]
        digests = b"".join(hashlib.sha256(piece).digest() for piece in pieces)
        return digests if len(pieces) == 1 else level(digests)

    assert tree_digest(data) == level(data)


def test_the_digest_sees_every_byte() -> None:
    data = bytearray(3 * PIECE_BYTES)
    seen = {tree_digest(data)}
    for at in (0, PIECE_BYTES, len(data) - 1):
        data[at] ^= 1
        seen.add(tree_digest(data))
    assert len(seen) == 4
