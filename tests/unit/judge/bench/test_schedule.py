from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

from judge.bench.schedule import (
    MOST_CALLS,
    SMALL_BYTES,
    Contents,
    Openings,
    PlannedBurst,
    Purpose,
    Schedule,
    how_many_to_open,
    most_shift_bytes,
    places_for,
)
from judge.bench.stream import SecretStream
from judge.packs.pack import Axis
from judge.runner.bursts import SHIFT_BYTES
from tests.host_device.judging import twice_pack

PACK = twice_pack()
CASE = PACK.benchmarks[0]


def bursts(key: bytes = b"key", count: int = 200, places: int = 16, elapsed_s: float = 10.0) -> list[PlannedBurst]:
    schedule = Schedule(SecretStream(key), PACK, CASE, places, first_call=1000)
    return [schedule.next_burst(elapsed_s) for _ in range(count)]


def test_the_same_key_draws_the_same_and_another_another() -> None:
    assert bursts() == bursts()
    assert bursts() != bursts(b"other")


def test_it_warms_up_first_and_for_a_time_that_nobody_knows() -> None:
    def warm_up_s(key: bytes) -> int:
        schedule = Schedule(SecretStream(key), PACK, CASE, 16, 0)
        return next(ms for ms in range(1000) if schedule.next_burst(ms / 1e3).purpose is not Purpose.WARM_UP)

    times = [warm_up_s(bytes([key])) for key in range(40)]
    assert 200 <= min(times) < 230
    assert 370 < max(times) <= 401


def test_bursts_that_count_have_the_advertised_sizes_and_warm_ups_look_the_same() -> None:
    for burst in [*bursts(), *bursts(elapsed_s=0.0, count=20)]:
        if burst.purpose is not Purpose.DECOY:
            assert all(call.case is CASE for call in burst.calls)
    timed = {len(burst.calls) for burst in bursts() if burst.purpose is Purpose.TIMED}
    assert timed == {len(burst.calls) for burst in bursts(elapsed_s=0.0)} == {1, 4, 8, 12, 16}


def test_each_size_comes_up_once_in_a_round() -> None:
    timed = [len(burst.calls) for burst in bursts() if burst.purpose is Purpose.TIMED]
    assert [sorted(timed[start : start + 5]) for start in (0, 5, 10)] == [[1, 4, 8, 12, 16]] * 3


def test_decoys_are_some_of_the_bursts_and_never_above_the_advertised_sizes() -> None:
    decoys = [burst for burst in bursts() if burst.purpose is Purpose.DECOY]
    assert 0.1 < len(decoys) / 200 < 0.3
    sizes = [burst.calls[0].case.axes["N"] for burst in decoys]
    assert max(sizes) == CASE.axes["N"], "some decoys are told apart by nothing"
    assert len(set(sizes)) > 10
    assert min(sizes) >= 0.75 * CASE.axes["N"]


def test_decoys_keep_to_what_the_axes_allow() -> None:
    pack = dataclasses.replace(PACK, axes=(Axis("N", 400_000, 600_000, 25_000, ""),))
    schedule = Schedule(SecretStream(b"axes"), pack, CASE, 16, 0)
    sizes = {call.case.axes["N"] for _ in range(400) for call in schedule.next_burst(10.0).calls}
    assert sizes == {400_000, 425_000, 450_000, 475_000, 500_000}


def test_no_contents_come_twice() -> None:
    seen = Counter(call.contents.call for burst in bursts() for call in burst.calls)
    assert set(seen.values()) == {1}
    assert min(seen) == 1000


def test_near_copies_are_of_calls_that_were_made_and_have_the_same_sizes() -> None:
    made: set[int] = set()
    copies = 0
    for burst in bursts():
        for call in burst.calls:
            if call.contents.like is not None:
                copies += 1
                assert call.contents.like in made
                assert call.case is CASE
            elif call.case is CASE:
                made.add(call.contents.call)
    assert copies > 100


def test_shifts_are_pages_and_differ() -> None:
    shifts = [call.shifts for burst in bursts() for call in burst.calls]
    for column in (0, 1):
        found = {shift[column] for shift in shifts}
        assert len(found) == 16
        assert max(found) == most_shift_bytes()
        assert all(shift % (16 * SHIFT_BYTES) == 0 for shift in found)
    assert {shift[2] for shift in shifts} == {0}, "a scalar has no place"


@pytest.mark.parametrize(
    ("output_bytes", "memory_bytes", "places"),
    [(4, 1 << 37, MOST_CALLS), (200 << 20, 1 << 37, 10), (200 << 20, 4 << 30, 5), (4 << 30, 1 << 37, 2), (0, 0, 16)],
)
def test_places_are_bounded_by_memory(output_bytes: int, memory_bytes: int, places: int) -> None:
    assert places_for(output_bytes, memory_bytes) == places


def test_two_places_give_bursts_of_two_sizes() -> None:
    assert {len(burst.calls) for burst in bursts(places=2) if burst.purpose is Purpose.TIMED} == {1, 2}


@pytest.mark.parametrize(
    ("call_bytes", "count"), [(1000, None), (SMALL_BYTES + 1, 10), (80 << 20, 6), (600 << 20, 4), (1 << 40, 4)]
)
def test_the_larger_a_call_the_fewer_are_opened(call_bytes: int, count: int | None) -> None:
    assert how_many_to_open(call_bytes) == count


def test_what_is_opened_is_an_even_sample_of_all_calls() -> None:
    stream = SecretStream(b"open")
    opened = Counter[int]()
    for _ in range(2000):
        openings = Openings(stream, 8)
        held: dict[int, int] = {}
        for call in range(80):
            place = openings.place_of_next()
            if place is not None:
                held[place] = call
        assert sorted(held) == list(range(8))
        opened.update(held.values())
    assert len(opened) == 80
    expected = 2000 * 8 / 80
    assert all(0.75 * expected < count < 1.25 * expected for count in opened.values())


def test_all_calls_are_opened_where_they_are_small() -> None:
    openings = Openings(SecretStream(b"open"), None)
    assert [openings.place_of_next() for _ in range(100)] == list(range(100))


def test_what_is_opened_is_not_drawn_from_what_the_submission_sees() -> None:
    key = SecretStream(b"one")
    first = [key.child("open").random() for _ in range(3)]
    key.random()
    assert [key.child("open").random() for _ in range(3)] == first
    assert [key.child("schedule").random() for _ in range(3)] != first


def test_a_secret_stream_is_uniform() -> None:
    stream = SecretStream(b"uniform")
    values = [stream.random() for _ in range(4000)]
    assert all(0 <= value < 1 for value in values)
    assert abs(sum(values) / 4000 - 0.5) < 0.02
    tens = Counter(stream.randrange(10) for _ in range(4000))
    assert min(tens.values()) > 300
    assert stream.getrandbits(600) >> 599 in (0, 1)


def test_fresh_contents_are_numbered() -> None:
    assert bursts()[0].calls[0].contents == Contents(1000)
