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

from judge.packs.distributions import Constant, Uniform
from judge.packs.drawing import fill_by_recipe
from judge.runner import timing
from judge.runner.device import DeviceError
from judge.runner.memory import SharedMemory
from judge.runner.timing import TimedCalls
from judge.wire.bursts import (
    CommitReply,
    OpenRequest,
    ReserveRequest,
    StageRequest,
    TimedCall,
    TimedSlot,
    TimeRequest,
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
ARGUMENTS = (ArgumentSpec("x", Role.INOUT, Element.FLOAT32), ArgumentSpec("factor", Role.IN, Element.FLOAT32))
FACTOR = recipe(Constant(value=3), np.dtype(np.float32), 1, 1, "c", "factor", 1)


class Scaling:
    """x *= factor."""

    calls = 0

    def bind(self, values: Sequence[int | bytes]) -> list[Any]:
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
    made = TimedCalls(HostDevice(), program, Memory(1 << 16).theirs, outputs.theirs, ARGUMENTS)
    made.reserve(ReserveRequest((SIZE + 512, 260), 2))
    return made


def _slots(call: int, place: int = 0) -> tuple[TimedSlot, ...]:
    x = recipe(Uniform(low=-1, high=1), np.dtype(np.float32), ELEMENTS, 1, "c", "x", call)
    return TimedSlot(
        size=SIZE, output_offset=4096, digests_offset=DIGESTS_AT, recipe=x, place=place, shift=512
    ), TimedSlot(size=4, recipe=FACTOR)


def _time(calls: TimedCalls, *slots: tuple[TimedSlot, ...]) -> list[CommitReply]:
    made = []
    calls.time(TimeRequest(tuple(TimedCall(one) for one in slots)))
    for _ in slots:
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


@pytest.mark.parametrize(
    "change",
    [
        {"recipe": None},
        {"recipe": _masked(0)},
        {"recipe": _masked(1)},
        {"place": 2},
        {"shift": 768},
        {"size": SIZE + 4},
    ],
)
def test_nothing_is_called_where_an_input_or_its_room_is_missing(
    calls: TimedCalls, program: Scaling, change: dict[str, Any]
) -> None:
    calls.stage(StageRequest(1, 0, SIZE - 4))
    first, second = _slots(5)
    with pytest.raises(FrameError):
        _time(calls, _slots(4), (dataclasses.replace(first, **change), second))
    assert program.calls == 0


def test_only_calls_of_the_last_burst_can_be_opened(calls: TimedCalls) -> None:
    _time(calls, _slots(5))
    with pytest.raises(FrameError):
        calls.open(OpenRequest(1))
    calls.reserve(ReserveRequest((SIZE, 4), 1))
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
    calls.time(TimeRequest((TimedCall(_slots(5)),)))
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
    calls.time(TimeRequest((TimedCall(_slots(5)), TimedCall(_slots(6)))))
    calls.solve()
    left = CommitReply.unpack(calls.commit())
    assert (left.ran.elapsed_s, left.ran.code, left.ran.name) == (-1.0, 700, "cudaErrorIllegalAddress")
    assert not left.finished
    for request in (calls.solve, calls.commit):
        with pytest.raises(FrameError):
            request()
