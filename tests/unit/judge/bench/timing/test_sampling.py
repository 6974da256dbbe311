from __future__ import annotations

from collections import Counter

import pytest

from judge.bench.timing.sampling import SMALL_BYTES, OpeningSample, SecretStream, opened_call_count


@pytest.mark.parametrize(
    ("call_bytes", "count"), [(1000, None), (SMALL_BYTES + 1, 10), (80 << 20, 6), (600 << 20, 4), (1 << 40, 4)]
)
def test_fewer_calls_are_opened_the_larger_they_are(call_bytes: int, count: int | None) -> None:
    assert opened_call_count(call_bytes) == count


def test_opened_calls_are_a_uniform_sample_of_all_calls() -> None:
    stream = SecretStream(b"open")
    opened = Counter[int]()
    for _ in range(2000):
        sample = OpeningSample(stream, 8)
        kept: dict[int, int] = {}
        for call in range(80):
            slot = sample.next_slot()
            if slot is not None:
                kept[slot] = call
        assert sorted(kept) == list(range(8))
        opened.update(kept.values())
    assert len(opened) == 80
    expected = 2000 * 8 / 80
    assert all(0.75 * expected < count < 1.25 * expected for count in opened.values())


def test_of_few_calls_as_many_are_opened_as_there_are() -> None:
    for first, count in ((1, 1), (3, 3), (7, 4)):
        sample = OpeningSample(SecretStream(b"few"), 4, first)
        slots = [slot for _ in range(first) if (slot := sample.next_slot()) is not None]
        assert sorted(slots) == list(range(count))


def test_all_small_calls_are_opened() -> None:
    sample = OpeningSample(SecretStream(b"open"), None)
    assert [sample.next_slot() for _ in range(100)] == list(range(100))


def test_reading_a_stream_does_not_change_its_children() -> None:
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
