"""The order of the tests: all are kept, and each process begins with its share of the slow ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.ordering import long_first


def item(name: str, seconds: float = 0.0, group: str | None = None) -> Any:
    given = {"slow": seconds, "xdist_group": group}
    marks = {mark: SimpleNamespace(args=(value,)) for mark, value in given.items() if value}
    return SimpleNamespace(name=name, get_closest_marker=marks.get)


def names(items: list[Any]) -> list[str]:
    return [one.name for one in items]


def test_each_process_begins_with_the_slowest_that_are_left() -> None:
    items = [item("a"), item("b", 5), item("c"), item("d", 50), item("e"), item("f", 20), item("g"), item("h")]
    assert names(long_first(items, 2)) == ["d", "b", "a", "c", "f", "e", "g", "h"]


def test_one_process_begins_with_all_of_them() -> None:
    assert names(long_first([item("a"), item("b", 1), item("c", 2)], 1)) == ["c", "b", "a"]


def test_tests_of_a_group_come_one_after_another_and_count_together() -> None:
    items = [item("a"), item("b", 5), item("c", 4, "it"), item("d"), item("e", 7), item("f", 4, "it"), item("g")]
    items += [item("h", 0, "it"), item("i"), item("j")]
    assert names(long_first(items, 2)) == ["c", "f", "h", "b", "a", "e", "d", "g", "i", "j"]


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("count", [0, 1, 5, 23])
@pytest.mark.parametrize("slow", [0, 3, 23])
def test_every_test_is_run_once(processes: int, count: int, slow: int) -> None:
    items = [item(f"t{number}", number + 1 if number < slow else 0) for number in range(count)]
    assert sorted(names(long_first(items, processes))) == sorted(names(items))
