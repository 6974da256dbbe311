import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.wire.frames import (
    HEADER,
    MAGIC,
    MAX_PAYLOAD,
    MAX_TEXT,
    FrameError,
    Op,
    Reader,
    Writer,
    pack_frame,
    split_frame,
)


def test_a_frame_comes_apart_as_it_was_put_together() -> None:
    data = pack_frame(Op.RUN, 2**64 - 1, b"abc")
    found = split_frame(data + b"more")
    assert found is not None
    frame, size = found
    assert (frame.op, frame.nonce, frame.payload, size) == (Op.RUN, 2**64 - 1, b"abc", len(data))


def test_half_a_frame_is_waited_for() -> None:
    data = pack_frame(Op.RUN, 1, b"abc")
    assert all(split_frame(data[:length]) is None for length in range(len(data)))


@pytest.mark.parametrize(
    "header",
    [
        HEADER.pack(MAGIC ^ 1, Op.RUN, 0, 1, 0),
        HEADER.pack(MAGIC, Op.RUN, 1, 1, 0),
        HEADER.pack(MAGIC, Op.RUN, 0, 1, MAX_PAYLOAD + 1),
        HEADER.pack(MAGIC, Op.RUN, 0, 1, 2**32 - 1),
    ],
)
def test_what_is_no_frame_is_refused_before_its_payload_is_waited_for(header: bytes) -> None:
    with pytest.raises(FrameError):
        split_frame(header)


def test_a_payload_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(FrameError):
        pack_frame(Op.RUN, 1, bytes(MAX_PAYLOAD + 1))


def test_fields_come_back() -> None:
    payload = Writer().u8(255).u32(2**32 - 1).i32(-5).u64(2**64 - 1).f64(0.1).text("größe").raw(b"xy").payload()
    r = Reader(payload)
    assert (r.u8(), r.u32(), r.i32(), r.u64(), r.f64(), r.text(), r.raw(2)) == (
        255,
        2**32 - 1,
        -5,
        2**64 - 1,
        0.1,
        "größe",
        b"xy",
    )
    r.end()


def test_bytes_left_over_are_an_error() -> None:
    with pytest.raises(FrameError):
        Reader(b"x").end()


def test_text_is_cut_when_sent_and_refused_when_too_long() -> None:
    assert len(Reader(Writer().text("x" * 10_000).payload()).text()) == MAX_TEXT
    with pytest.raises(FrameError):
        Reader(struct.pack("<H", MAX_TEXT + 1) + bytes(MAX_TEXT + 1)).text()


def test_text_holds_nothing_that_a_terminal_obeys() -> None:
    raw = b"\x1b[2Jhello\x00\xff\r\n\tworld"
    assert Reader(struct.pack("<H", len(raw)) + raw).text() == "\ufffd[2Jhello\ufffd\ufffd\ufffd\n\tworld"


def test_a_count_has_a_limit() -> None:
    with pytest.raises(FrameError):
        Reader(Writer().u32(21).payload()).count(20)


@given(st.binary(max_size=200))
def test_whatever_arrives_is_a_frame_or_an_error_or_waited_for(data: bytes) -> None:
    try:
        found = split_frame(data)
    except FrameError:
        return
    assert found is None or len(found[0].payload) + HEADER.size == found[1] <= len(data)
