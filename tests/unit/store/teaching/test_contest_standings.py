"""How the members of a contest are ranked."""

from __future__ import annotations

import pytest

from store.models.contests import Scoring
from store.teaching.contest_standings import Result, rank_members

CHALLENGES = ("first", "second")
#: ada is twice as fast as bob in the first and has nothing in the second; cy has nothing.
RESULTS = {
    ("ada", "first"): Result(1.0, "time_s", "a"),
    ("bob", "first"): Result(2.0, "time_s", "b"),
    ("bob", "second"): Result(3.0, "time_s", "c"),
}

#: ada and bob reach the first, though ada is faster; bob's result for the second is worth a quarter.
TARGETS = {"first": 2.0, "second": 0.75}


@pytest.mark.parametrize(
    ("scoring", "expected"),
    [
        (Scoring.PLACES, [(1, "bob", 3.0), (2, "ada", 5.0), (3, "cy", 8.0)]),
        (Scoring.TIME, [(1, "bob", 3.0), (2, "ada", 1.0), (3, "cy", 0.0)]),
        (Scoring.POINTS, [(1, "bob", 150.0), (2, "ada", 100.0), (3, "cy", 0.0)]),
        (Scoring.TARGETS, [(1, "bob", 125.0), (2, "ada", 100.0), (3, "cy", 0.0)]),
    ],
)
def test_each_scoring_ranks_by_its_rule(scoring: Scoring, expected: list[tuple[int, str, float]]) -> None:
    rows = rank_members(scoring, CHALLENGES, ["cy", "bob", "ada"], RESULTS, TARGETS)
    assert [(row.rank, row.username, row.total) for row in rows] == expected
    by_name = {row.username: row for row in rows}
    assert [cell and cell.place for cell in by_name["ada"].cells] == [1, None]
    assert [cell and cell.place for cell in by_name["bob"].cells] == [2, 1]


@pytest.mark.parametrize("scoring", list(Scoring))
def test_equal_results_share_place_and_rank(scoring: Scoring) -> None:
    same = {(name, slug): Result(1.5, "time_s", name) for name in ("ada", "Bob", "cy") for slug in CHALLENGES}
    slower = {("dan", slug): Result(2.5, "time_s", "d") for slug in CHALLENGES}
    rows = rank_members(scoring, CHALLENGES, ["dan", "cy", "Bob", "ada"], same | slower, TARGETS)
    assert [(row.rank, row.username) for row in rows] == [(1, "ada"), (1, "Bob"), (1, "cy"), (4, "dan")]
    assert {cell.place for row in rows[:3] for cell in row.cells if cell} == {1}
    assert {cell.place for cell in rows[3].cells if cell} == {4}


@pytest.mark.parametrize("scoring", list(Scoring))
def test_nothing_yet(scoring: Scoring) -> None:
    assert rank_members(scoring, CHALLENGES, [], {}) == []
    rows = rank_members(scoring, CHALLENGES, ["bob", "ada"], {})
    assert [(row.rank, row.username, row.cells) for row in rows] == [
        (1, "ada", (None, None)),
        (1, "bob", (None, None)),
    ]


def test_a_challenge_without_a_target_earns_nothing() -> None:
    rows = rank_members(Scoring.TARGETS, CHALLENGES, ["bob", "ada"], RESULTS, {"second": 3.0})
    assert [(row.username, row.total) for row in rows] == [("bob", 100.0), ("ada", 0.0)]
