from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.runner.device import Device
from judge.runner.recordings import Recordings
from judge.wire.frames import MAX_PAYLOAD, FrameError
from judge.wire.recordings import (
    MAX_RECORDING_BYTES,
    PIECE_BYTES,
    TRANSFERS,
    RecordingClaim,
    RecordingReply,
    ReplayReply,
)


@pytest.mark.parametrize(
    "message",
    [
        RecordingClaim((0x200000001000, 0), b"steps"),
        RecordingClaim((), b""),
        RecordingReply(11, b"some of it"),
        ReplayReply(5),
        ReplayReply(0, tuple(range(TRANSFERS))),
    ],
)
def test_what_is_packed_comes_out_again(message: RecordingClaim | RecordingReply | ReplayReply) -> None:
    assert type(message).unpack(message.pack()) == message


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_messages_or_frame_errors(payload: bytes) -> None:
    for kind in (RecordingClaim, RecordingReply, ReplayReply):
        with contextlib.suppress(FrameError):
            kind.unpack(payload)


def test_a_piece_fits_a_frame() -> None:
    assert len(RecordingReply(1, bytes(PIECE_BYTES)).pack()) <= MAX_PAYLOAD


def test_no_recording_is_longer_than_may_be() -> None:
    with pytest.raises(FrameError, match="a recording of"):
        RecordingReply.unpack(RecordingReply(MAX_RECORDING_BYTES + 1, b"").pack())
    recordings = Recordings()
    for _ in range(MAX_RECORDING_BYTES // PIECE_BYTES):
        recordings.give(bytes(PIECE_BYTES))
    with pytest.raises(FrameError, match="too long"):
        recordings.give(bytes(PIECE_BYTES))


def test_nothing_is_recorded_without_a_device() -> None:
    nothing: Device | None = None
    with pytest.raises(FrameError, match="no device"):
        Recordings().begin(nothing)
