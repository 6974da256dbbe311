"""Recordings as claims: whatever the bytes, and where addresses belong."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.fat_binaries import fat_binaries
from judge.runner.cuda.recording import (
    Fill,
    Launch,
    Place,
    Pointer,
    RawRecording,
    Recording,
    RecordingError,
)
from judge.runner.cuda.recording_reader import read_recording

INPUT, OUTPUT, SCRATCH = 0x7F0000010000, 0x7F0000020000, 0x7F0000030000
GUARD = 256


def step(number: int, payload: bytes) -> bytes:
    return struct.pack("<II", number, len(payload)) + payload


def allocate(address: int, size: int, *, is_host: bool = False) -> bytes:
    return step(1, struct.pack("<QQI", address, size, is_host))


def release(address: int) -> bytes:
    return step(2, struct.pack("<Q", address))


def kernel(words: int) -> bytes:
    parameters = b"".join(struct.pack("<II", 8 * index, 8) for index in range(words))
    return step(4, struct.pack("<II", 1, words) + parameters + b"work")


def launch(*words: int, stream: int = 0, attributes: tuple[int, ...] = ()) -> bytes:
    head = struct.pack("<9IQI", 1, 2, 1, 1, 32, 1, 1, 0, 0, stream, len(attributes))
    values = b"".join(struct.pack("<I64x", number) for number in attributes)
    return step(6, head + values + struct.pack(f"<{len(words)}Q", *words))


def fill(address: int, size: int) -> bytes:
    return step(7, struct.pack("<QQQI", address, size, 0, 1))


def read(before: bytes, call: bytes) -> Recording:
    buffers = ((INPUT, 1000), (OUTPUT, 1000))
    raw = RawRecording(buffers, len(before), len(before + call), "", before + call)
    return read_recording(RawRecording.unpack(raw.pack()), (INPUT, 0, OUTPUT), GUARD)


@pytest.mark.parametrize(
    ("word", "pointer"),
    [
        (INPUT, Pointer(Place.ARGUMENT, 0, 0)),
        (OUTPUT + 8, Pointer(Place.ARGUMENT, 2, 8)),
        (INPUT - GUARD, Pointer(Place.ARGUMENT, 0, -GUARD)),
        (OUTPUT + 1000 + GUARD, Pointer(Place.ARGUMENT, 2, 1000 + GUARD)),
        (SCRATCH, Pointer(Place.SCRATCH, 0, 0)),
        (SCRATCH + 512, Pointer(Place.SCRATCH, 1, 0)),
        (SCRATCH + 1024, Pointer(Place.SCRATCH, 0, 512)),
        (1000, None),
        (INPUT - GUARD - 1, None),
        (SCRATCH + 1025, None),
    ],
)
def test_where_an_address_belongs(word: int, pointer: Pointer | None) -> None:
    """The end of an allocation is its own, unless another begins there."""
    before = kernel(2) + allocate(SCRATCH, 512) + allocate(SCRATCH + 512, 512)
    [work] = read(before, launch(7, word)).call
    assert isinstance(work, Launch)
    if pointer is not None and pointer.place is Place.SCRATCH:
        # What is not used is not allocated again, and the rest is numbered anew.
        pointer = Pointer(pointer.place, 0, pointer.offset)
    assert work.pointers == (() if pointer is None else ((8, pointer),))


def test_an_address_that_was_given_anew_is_another_allocation() -> None:
    before = kernel(1) + allocate(SCRATCH, 64) + fill(SCRATCH, 64) + release(SCRATCH)
    recording = read(before, allocate(SCRATCH, 512) + fill(SCRATCH, 512) + release(SCRATCH))
    assert recording.scratch == (64, 512)
    assert recording.before == (Fill(Pointer(Place.SCRATCH, 0, 0), 64, 1),)
    assert recording.call == (Fill(Pointer(Place.SCRATCH, 1, 0), 512, 1),)


@pytest.mark.parametrize(
    ("before", "call", "reason"),
    [
        (kernel(1), launch(1) + launch(1, stream=77), "several streams"),
        (kernel(1), launch(1, 2), "parameters of another kernel"),
        (kernel(1), launch(1, attributes=(7,)), "mean nothing in another process"),
        (kernel(1) + allocate(SCRATCH, 64, is_host=True), launch(SCRATCH), "memory of the host"),
        (b"", launch(1), "a kernel that nobody knows"),
        (b"", fill(SCRATCH, 1), "not seen to allocate"),
        (allocate(SCRATCH, 64) + release(SCRATCH), fill(SCRATCH, 64), "not seen to allocate"),
        (allocate(SCRATCH, 64), fill(SCRATCH + 1, 64), "not seen to allocate"),
        (allocate(SCRATCH, 1 << 60), fill(SCRATCH, 1), "beyond all bounds"),
        (b"", step(99, b""), "nobody knows"),
        (b"", fill(OUTPUT, 8)[:-1], "breaks off"),
        (b"", release(0) * 100_001, "too long"),
    ],
)
def test_what_is_not_done_again(before: bytes, call: bytes, reason: str) -> None:
    with pytest.raises(RecordingError, match=reason):
        read(before, call)


def test_streams_of_other_calls_do_not_count() -> None:
    both_names_of_one = launch(1) + launch(1, stream=1)
    assert len(read(kernel(1) + launch(1, stream=77), both_names_of_one).call) == 2


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_arbitrary_bytes_are_recordings_or_errors(raw: bytes, steps: bytes) -> None:
    with contextlib.suppress(RecordingError):
        read_recording(RawRecording.unpack(raw), (INPUT, 0, OUTPUT), GUARD)
    for number in range(12):
        with contextlib.suppress(RecordingError):
            read(kernel(1), step(number, steps))


@given(st.binary(max_size=300))
def test_arbitrary_bytes_have_no_device_code(data: bytes) -> None:
    assert fat_binaries(data) == []
    assert fat_binaries(b"\x7fELF\x02" + data) == []
