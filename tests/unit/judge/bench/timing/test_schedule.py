from __future__ import annotations

import dataclasses
import math
from collections import Counter

import pytest

from judge.bench.timing.sampling import SecretStream
from judge.bench.timing.schedule import (
    MAX_CALLS,
    InputKey,
    PlannedBurst,
    Purpose,
    Schedule,
    max_burst_calls,
    max_offset_bytes,
)
from judge.packs.pack import Axis
from judge.wire.bursts import SHIFT_BYTES
from tests.host_device.judging import twice_pack

PACK = twice_pack()
CASE = PACK.benchmarks[0]


def bursts(
    key: bytes = b"key", count: int = 200, max_calls: int = 16, elapsed_s: float = 10.0, call_s: float = 1e-3
) -> list[PlannedBurst]:
    schedule = Schedule(SecretStream(key), PACK, CASE, max_calls, first_call=1000)
    return [schedule.next_burst(elapsed_s, call_s) for _ in range(count)]


def test_the_key_decides_the_schedule() -> None:
    assert bursts() == bursts()
    assert bursts() != bursts(b"other")


def test_the_warm_up_time_is_drawn() -> None:
    def warm_up_s(key: bytes) -> int:
        schedule = Schedule(SecretStream(key), PACK, CASE, 16, 0)
        return next(ms for ms in range(1000) if schedule.next_burst(ms / 1e3, 1e-3).purpose is not Purpose.WARM_UP)

    times = [warm_up_s(bytes([key])) for key in range(40)]
    assert 200 <= min(times) < 230
    assert 370 < max(times) <= 401


def test_bursts_that_count_have_the_advertised_sizes_and_warm_ups_look_the_same() -> None:
    for burst in [*bursts(), *bursts(elapsed_s=0.0, count=20)]:
        if burst.purpose is not Purpose.DECOY:
            assert all(call.case is CASE for call in burst.calls)
    timed = {len(burst.calls) for burst in bursts() if burst.purpose is Purpose.TIMED}
    assert timed == {len(burst.calls) for burst in bursts(elapsed_s=0.0)} == {1, 4, 8, 12, 16}


def test_each_round_has_every_size_once() -> None:
    timed = [len(burst.calls) for burst in bursts() if burst.purpose is Purpose.TIMED]
    assert [sorted(timed[start : start + 5]) for start in (0, 5, 10)] == [[1, 4, 8, 12, 16]] * 3


def test_the_first_burst_has_one_call_since_nobody_knows_yet_how_long_it_takes() -> None:
    schedule = Schedule(SecretStream(b"first"), PACK, CASE, 16, 0)
    assert len(schedule.next_burst(0.0, math.inf).calls) == 1
    assert {len(schedule.next_burst(0.0, 1e-3).calls) for _ in range(5)} == {1, 4, 8, 12, 16}


def test_long_calls_make_short_bursts() -> None:
    for call_s, most in ((0.05, 10), (0.1, 5), (0.3, 1), (3.9, 1)):
        made = bursts(call_s=call_s)
        assert max(len(burst.calls) for burst in made) == most
        assert any(burst.purpose is Purpose.DECOY for burst in made) == (call_s <= 0.5)


def test_decoys_never_exceed_the_advertised_sizes() -> None:
    decoys = [burst for burst in bursts() if burst.purpose is Purpose.DECOY]
    assert 0.1 < len(decoys) / 200 < 0.3
    sizes = [burst.calls[0].case.axes["N"] for burst in decoys]
    assert max(sizes) == CASE.axes["N"], "some decoys are told apart by nothing"
    assert len(set(sizes)) > 10
    assert min(sizes) >= 0.75 * CASE.axes["N"]


def test_decoys_keep_to_what_the_axes_allow() -> None:
    pack = dataclasses.replace(PACK, axes=(Axis("N", 400_000, 600_000, 25_000, ""),))
    schedule = Schedule(SecretStream(b"axes"), pack, CASE, 16, 0)
    sizes = {call.case.axes["N"] for _ in range(400) for call in schedule.next_burst(10.0, 1e-3).calls}
    assert sizes == {400_000, 425_000, 450_000, 475_000, 500_000}


def test_no_inputs_come_twice() -> None:
    seen = Counter(call.inputs.call for burst in bursts() for call in burst.calls)
    assert set(seen.values()) == {1}
    assert min(seen) == 1000


def test_near_copies_are_of_earlier_calls_with_the_same_sizes() -> None:
    made: set[int] = set()
    copies = 0
    for burst in bursts():
        for call in burst.calls:
            if call.inputs.like is not None:
                copies += 1
                assert call.inputs.like in made
                assert call.case is CASE
            elif call.case is CASE:
                made.add(call.inputs.call)
    assert copies > 100


def test_offsets_are_whole_pages_and_differ() -> None:
    offsets = [call.offsets for burst in bursts() for call in burst.calls]
    for column in (0, 1):
        found = {offset[column] for offset in offsets}
        assert len(found) == 16
        assert max(found) == max_offset_bytes()
        assert all(offset % (16 * SHIFT_BYTES) == 0 for offset in found)
    assert {offset[2] for offset in offsets} == {0}, "a scalar has no buffer"


@pytest.mark.parametrize(
    ("output_bytes", "memory_bytes", "max_calls"),
    [(4, 1 << 37, MAX_CALLS), (200 << 20, 1 << 37, 10), (40 << 20, 4 << 30, 5), (4 << 30, 1 << 37, 2), (0, 0, 16)],
)
def test_the_longest_burst_is_bounded_by_memory(output_bytes: int, memory_bytes: int, max_calls: int) -> None:
    assert max_burst_calls(output_bytes, memory_bytes) == max_calls


def test_bursts_of_up_to_two_calls_have_two_sizes() -> None:
    assert {len(burst.calls) for burst in bursts(max_calls=2) if burst.purpose is Purpose.TIMED} == {1, 2}


def test_calls_number_their_inputs() -> None:
    assert bursts()[0].calls[0].inputs == InputKey(1000)
