import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.wire.elements import Element
from judge.wire.frames import FrameError, Role, Writer
from judge.wire.messages import (
    MAX_EXTENTS,
    MAX_FAULTS,
    ArgumentSpec,
    CallClaim,
    ExtentClaim,
    FailedReply,
    FaultClaim,
    FetchReply,
    LoadRequest,
    PartyClaim,
    PrepareRequest,
    ReportClaim,
    RunReply,
    Slot,
    StartRequest,
    Watch,
)

FAULT = FaultClaim(
    "out-of-bounds write", True, "4 bytes behind output", "k", "kernel.cu", 7, (1, 2, 3), (4, 5, 6), frames=(9, 8)
)
RACE = dataclasses.replace(FAULT, other=PartyClaim("kernel.cu", 9, (7, 8, 9), (1, 1, 1), True))
EXTENT = ExtentClaim("k", "kernel.cu", 1, 4, 260, 9, False, ((1, 2, 3), (4, 5, 6)), ((7, 8, 9), (1, 1, 1)))
START = StartRequest(
    "judge.runner.emulator",
    1,
    "/lib.so",
    2,
    7,
    8,
    True,
)
LOAD = LoadRequest(
    (ArgumentSpec("A", Role.IN, Element.FLOAT32), ArgumentSpec("N", Role.SCALAR, Element.INT32)),
    3,
    4,
    5.5,
    "t4",
    7,
    registers=(("_Z3addPf", 40),),
)


@pytest.mark.parametrize(
    "message",
    [
        START,
        LOAD,
        dataclasses.replace(LOAD, processor=0),
        dataclasses.replace(LOAD, own_streams=True),
        PrepareRequest((Slot(b"12345678"), Slot(size=10, input_offset=4096, output_offset=8192, fill=255))),
        FailedReply(3, -1, "cudaErrorX", "why"),
        RunReply(1.5e-6, 700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"),
        FetchReply((0, 3, 4), None),
        PrepareRequest((Slot(),), Watch.PROFILE | Watch.CHECKS),
        FetchReply((), ReportClaim(10**12, 3, 99, "wall", "cp.async", (FAULT, RACE))),
        FetchReply((), ReportClaim(extents=(EXTENT, EXTENT))),
        FetchReply((), ReportClaim(calls=(CallClaim("cudaMalloc", "cudaErrorX", "why", True, (4660, 1 << 40)),))),
    ],
)
def test_a_message_comes_back_as_it_was_sent(message: StartRequest) -> None:
    assert type(message).unpack(message.pack()) == message


def test_a_forged_number_of_extents_is_refused() -> None:
    head = Writer().u32(0).u8(1).u64(0).u64(0).u64(0).text("").text("").u32(0).u32(0).u32(0)
    with pytest.raises(FrameError):
        FetchReply.unpack(head.u32(MAX_EXTENTS + 1).payload())


def test_a_forged_number_of_faults_is_refused() -> None:
    out = Writer().u32(0).u8(1).u64(0).u64(0).u64(0).text("").text("").u32(MAX_FAULTS + 1)
    with pytest.raises(FrameError):
        FetchReply.unpack(out.payload())


def test_a_buffer_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(FrameError):
        PrepareRequest.unpack(PrepareRequest((Slot(size=1 << 50),)).pack())


@given(st.binary(max_size=300))
def test_replies_never_raise_anything_but_frame_errors(payload: bytes) -> None:
    for kind in (FailedReply, RunReply, FetchReply):
        try:
            kind.unpack(payload)
        except FrameError:
            continue
