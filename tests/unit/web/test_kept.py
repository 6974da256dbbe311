"""Few requests read expensive data, and never old data; every request reads cheap data anew."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine
from sqlalchemy.orm import Session, sessionmaker

from web.kept import KEEP, MOST, Kept

SECOND = timedelta(seconds=1)


class Source:
    """Counts how often it is read; ``read`` returns the count."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 2, tzinfo=UTC)
        self.reads = 0
        self.readers = sessionmaker(create_engine("sqlite://"))
        self.kept = Kept(self.readers)

    def ask(self, key: object = "a", *, dear: bool = True, read: Callable[[Session], int] | None = None) -> int:
        with self.readers() as session:
            return self.kept.read(
                key, read or self.read, session=session, clock=lambda: self.now, is_dear=lambda _: dear
            )

    def read(self, _: Session) -> int:
        self.reads += 1
        return self.reads


@pytest.fixture
def source() -> Source:
    return Source()


def test_what_is_cheap_is_read_each_time(source: Source) -> None:
    assert [source.ask(dear=False) for _ in range(3)] == [1, 2, 3]


def test_what_is_dear_is_read_again_beside_the_requests(source: Source) -> None:
    assert [source.ask(), source.ask(), source.ask("b")] == [1, 1, 2]
    source.now += KEEP
    assert source.ask() == 1
    source.now += SECOND
    assert source.ask() == 1
    source.kept.wait()
    assert source.ask() == 3


def test_what_was_not_asked_for_in_a_long_time_is_read_by_the_request(source: Source) -> None:
    source.ask()
    source.now += 2 * KEEP + SECOND
    assert source.ask() == 2


def test_a_failure_beside_the_requests_leaves_what_is_kept_until_it_is_too_old(source: Source) -> None:
    def fail(_: Session) -> int:
        raise RuntimeError("the database is away")

    source.ask()
    source.now += KEEP + SECOND
    assert source.ask(read=fail) == 1
    source.kept.wait()
    assert source.ask() == 1
    source.kept.wait()
    assert source.ask() == 2
    source.now += 2 * KEEP + SECOND
    with pytest.raises(RuntimeError):
        source.ask(read=fail)


def test_a_clock_that_was_set_back_makes_nothing_last(source: Source) -> None:
    source.ask()
    source.now -= SECOND
    assert source.ask() == 2


def test_what_was_not_asked_for_the_longest_goes_first(source: Source) -> None:
    for key in range(MOST + 1):
        source.ask(key)
    assert source.ask(1) == 2
    assert source.ask(0) == MOST + 2
