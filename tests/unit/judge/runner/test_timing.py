"""Bursts on the host device, in this process: what tests/integration/test_bursts.py leaves out."""

from __future__ import annotations

import ctypes
import dataclasses
import mmap
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from judge.packs.collection.pool import SecretPool
from judge.packs.data.distributions import Constant, Uniform
from judge.packs.data.drawing import Drawing, fill_by_recipe
from judge.runner import timing
from judge.runner.device import DeviceError
from judge.runner.memory import SharedMemory
from judge.runner.reservation import Reservation
from judge.runner.timing import TimedCalls
from judge.wire.bursts import (
    CommitReply,
    OpenRequest,
    PieceRequest,
    PlaceRequest,
    ReserveRequest,
    TimedCall,
    TimedSlot,
)
from judge.wire.digest import DIGEST_BYTES, piece_digests, tree_digest
from judge.wire.elements import Element
from judge.wire.frames import FrameError, Role
from judge.wire.messages import ArgumentSpec
from judge.wire.recipe import Kind, Recipe
from tests.draws import recipe
from tests.host_device.device import HostDevice

ELEMENTS = 3000
DIGESTS_AT = 32768
SIZE = 4 * ELEMENTS
PLACE = 32768
ARGUMENTS = (ArgumentSpec("x", Role.INOUT, Element.FLOAT32), ArgumentSpec("factor", Role.IN, Element.FLOAT32))
FACTOR = recipe(Constant(value=3), np.dtype(np.float32), 1, 1, "c", "factor", 1)


class Scaling:
    """x *= factor."""

    calls = 0

    def bind(self, values: Sequence[int | bytes], shapes: Sequence[tuple[int, ...]] = ()) -> list[Any]:  # noqa: ARG002
        return list(values)

    def call(self, bound: Sequence[Any]) -> None:
        self.calls += 1
        x = np.ctypeslib.as_array((ctypes.c_float * ELEMENTS).from_address(bound[0]))
        x *= ctypes.c_float.from_address(bound[1]).value

    def take_error(self) -> tuple[int, str, str]:
        return 0, "", ""


class Memory:
    """A shared memory as the runner is given it, and this side's view of it."""

    def __init__(self, size: int) -> None:
        fd = os.memfd_create("test")
        os.ftruncate(fd, size)
        self.map = mmap.mmap(fd, size)
        self.theirs = SharedMemory(fd, size, writable=True)


@pytest.fixture
def outputs() -> Memory:
    return Memory(1 << 16)


@pytest.fixture
def program() -> Scaling:
    return Scaling()


@pytest.fixture
def calls(program: Scaling, outputs: Memory) -> TimedCalls:
    return _calls(program, outputs)


def _calls(program: Scaling, outputs: Memory) -> TimedCalls:
    device = HostDevice()
    reservation = Reservation(device, Memory(1 << 16).theirs, Memory(1 << 16).theirs)
    reservation.reserve(ReserveRequest((PLACE + SIZE + 512, 260), staged=SIZE, pool=SIZE))
    reservation.stage(PieceRequest(0, 0, SIZE))
    return TimedCalls(device, program, reservation, outputs.theirs, ARGUMENTS)


def _slots(call: int, place: int = 0) -> tuple[TimedSlot, ...]:
    x = recipe(Uniform(low=-1, high=1), np.dtype(np.float32), ELEMENTS, 1, "c", "x", call)
    return TimedSlot(
        size=SIZE, output_offset=4096, digests_offset=DIGESTS_AT, recipe=x, shift=512 + place * PLACE
    ), TimedSlot(size=4, recipe=FACTOR)


def _time(calls: TimedCalls, *slots: tuple[TimedSlot, ...]) -> list[CommitReply]:
    made = []
    for index, one in enumerate(slots):
        calls.undo()
        calls.place(PlaceRequest(index, TimedCall(one)))
        assert calls.solve() == b""
        made.append(CommitReply.unpack(calls.commit()))
    return made


def test_what_is_read_and_written_has_an_input_and_a_place(calls: TimedCalls, outputs: Memory) -> None:
    made_calls = _time(calls, _slots(5, place=1), _slots(6, place=0))
    for index, call in enumerate((5, 6)):
        expected = np.empty(ELEMENTS, np.float32)
        made = _slots(call)[0].recipe
        assert made is not None
        fill_by_recipe(made, expected)
        expected *= 3
        calls.open(OpenRequest(index))
        assert outputs.map[4096 : 4096 + SIZE] == expected.tobytes()
        pieces = piece_digests(expected.tobytes())
        assert len(pieces) > DIGEST_BYTES
        assert outputs.map[DIGESTS_AT : DIGESTS_AT + len(pieces)] == pieces
        left = made_calls[index]
        assert (left.ran.code, left.damage, left.digests) == (0, (0, 0), (tree_digest(expected.tobytes()),))


def _masked(stage: int) -> Recipe:
    return Recipe(Kind.MASKED, Element.FLOAT32, (1, 2), stage=stage)


def _pooled(offset: int) -> Recipe:
    return Recipe(Kind.UNIFORM, Element.FLOAT32, (1, 2), 0.0, 1.0, pool=offset)


@pytest.mark.parametrize(
    "change",
    [
        {"recipe": None},
        {"recipe": _masked(4)},
        {"recipe": _pooled(256)},
        {"shift": PLACE + 768},
        {"size": PLACE + SIZE + 4},
    ],
)
def test_nothing_is_called_where_an_input_or_its_room_is_missing(
    calls: TimedCalls, program: Scaling, change: dict[str, Any]
) -> None:
    first, second = _slots(5)
    with pytest.raises(FrameError):
        _time(calls, _slots(4), (dataclasses.replace(first, **change), second))
    assert program.calls == 1, "the one before it"


def test_only_calls_of_the_last_burst_can_be_opened(calls: TimedCalls) -> None:
    _time(calls, _slots(5))
    with pytest.raises(FrameError):
        calls.open(OpenRequest(1))
    calls.open(OpenRequest(0))
    calls.place(PlaceRequest(0, TimedCall(_slots(6))))
    with pytest.raises(FrameError):
        calls.open(OpenRequest(0))


def test_who_lost_the_processor_since_the_call_was_ready_says_so(
    calls: TimedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    preemptions = iter((3, 3, 3, 5))
    monkeypatch.setattr(timing, "_preemptions", lambda: next(preemptions))
    assert [call.preempted for call in _time(calls, _slots(5), _slots(6))] == [False, True]


def test_a_call_is_made_once_and_only_when_it_is_ready(calls: TimedCalls, program: Scaling) -> None:
    assert not calls.is_ready
    with pytest.raises(FrameError):
        calls.solve()
    calls.place(PlaceRequest(0, TimedCall(_slots(5))))
    assert calls.is_ready
    with pytest.raises(FrameError):
        calls.open(OpenRequest(0))
    calls.solve()
    calls.commit()
    assert not calls.is_ready
    for request in (calls.solve, calls.commit):
        with pytest.raises(FrameError):
            request()
    assert program.calls == 1


def test_after_an_error_of_the_device_there_is_no_further_call(outputs: Memory) -> None:
    class Failing(Scaling):
        def call(self, bound: Sequence[Any]) -> None:  # noqa: ARG002 -- what it is called with does not matter
            raise DeviceError(700, "cudaErrorIllegalAddress", "an illegal memory access was encountered")

    calls = _calls(Failing(), outputs)
    calls.place(PlaceRequest(0, TimedCall(_slots(5))))
    calls.solve()
    left = CommitReply.unpack(calls.commit())
    assert (left.ran.elapsed_s, left.ran.code, left.ran.name) == (-1.0, 700, "cudaErrorIllegalAddress")
    assert not left.finished
    for request in (calls.solve, calls.commit):
        with pytest.raises(FrameError):
            request()


def test_calls_come_in_their_turn(calls: TimedCalls) -> None:
    for index in (1, 2):
        with pytest.raises(FrameError):
            calls.place(PlaceRequest(index, TimedCall(_slots(5))))
    calls.place(PlaceRequest(0, TimedCall(_slots(5))))
    with pytest.raises(FrameError, match="out of its turn"):
        calls.place(PlaceRequest(1, TimedCall(_slots(6))))


def test_an_input_is_made_from_its_part_of_the_pool(program: Scaling, outputs: Memory) -> None:
    inputs = Memory(1 << 17)
    pool = SecretPool((1, 2), 2 * 12032)
    words = np.empty(pool.size // 4, np.uint32)
    Drawing(pool.recipe, words.size).draw(0, words)
    inputs.map[4096 : 4096 + pool.size] = words.tobytes()
    device = HostDevice()
    reservation = Reservation(device, inputs.theirs, Memory(1 << 16).theirs)
    reservation.reserve(ReserveRequest((SIZE, 260), pool=pool.size, spare=1 << 20))
    for offset in range(0, pool.size, 8000):
        size = min(8000, pool.size - offset)
        reservation.fill_pool(PieceRequest(offset, 4096 + offset, size))
    reservation.release_spare()
    calls = TimedCalls(device, program, reservation, outputs.theirs, ARGUMENTS)
    first, second = _slots(5)
    assert first.recipe is not None
    pooled = dataclasses.replace(first.recipe, pool=12032)
    _time(calls, (dataclasses.replace(first, recipe=pooled, shift=0), second))
    calls.open(OpenRequest(0))
    expected = np.empty(ELEMENTS, np.float32)
    fill_by_recipe(pooled, expected, pool=pool)
    assert outputs.map[4096 : 4096 + SIZE] == (3 * expected).tobytes()
