from __future__ import annotations

import dataclasses
import pickle

from records import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    name: str


@dataclass
class Open:
    names: list[str] = dataclasses.field(default_factory=list)


def test_what_is_frozen_is_compared_and_hashed_by_its_fields() -> None:
    assert Point(1) == Point(1, 0) != Point(1, 1)
    assert len({Point(1), Point(1), Point(2)}) == 2
    assert dataclasses.replace(Point(1, 2), y=3) == Point(1, 3)
    assert repr(Point(1)) == "Point(x=1, y=0)"
    assert not hasattr(Point(1), "__dict__")
    assert pickle.loads(pickle.dumps(Point(4, 5))) == Point(4, 5)


def test_what_is_not_compared_is_hashed_by_its_identity() -> None:
    one, other = Node("a"), Node("a")
    assert one != other
    assert len({one, other}) == 2


def test_what_is_not_frozen_is_as_the_standard_librarys() -> None:
    assert Open() == Open([])
    assert Open.__hash__ is None
