"""Grades at their edges: at the deadline, after it, with several attempts or none, and totals with drops."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.teaching.points import Attempt, Part, Taken, Terms, days_late, grade, total

DUE = datetime(2026, 3, 1, 15, tzinfo=UTC)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
TERMS = Terms(points=50.0, accepted_percent=40, late_percent=10, taken=Taken.BEST)
LATEST = replace(TERMS, taken=Taken.LATEST)


def attempt(
    name: str, at: datetime, verdict: str | None = "AC", *, reached: bool = False, off: bool = False
) -> Attempt:
    return Attempt(name, at, verdict, accepted=verdict == "AC" and not off, reached=reached)


@pytest.mark.parametrize(
    ("at", "days"),
    [
        (DUE - SECOND, 0), (DUE - timedelta(microseconds=1), 0), (DUE, 1), (DUE + SECOND, 1), (DUE + DAY - SECOND, 1),
        (DUE + DAY, 2), (DUE + 10 * DAY, 11),
    ],
)  # fmt: skip
def test_the_deadline_itself_is_in_the_first_late_day(at: datetime, days: int) -> None:
    assert days_late(at, DUE) == days


@pytest.mark.parametrize(
    ("at", "points"),
    [
        (DUE - SECOND, 50.0),
        (DUE, 45.0),
        (DUE + SECOND, 45.0),
        (DUE + DAY, 40.0),
        (DUE + 9 * DAY, 0.0),
        (DUE + 90 * DAY, 0.0),
    ],
)
def test_each_day_late_costs_down_to_nothing(at: datetime, points: float) -> None:
    found = grade([attempt("a", at, reached=True)], TERMS, DUE)
    assert found.points == pytest.approx(points)
    assert found.reached
    assert found.counts == (at < DUE)


def test_an_extension_is_another_deadline() -> None:
    sent = [attempt("a", DUE + SECOND, reached=True)]
    assert grade(sent, TERMS, DUE).points == 45.0
    assert grade(sent, TERMS, DUE + DAY).points == 50.0
    assert grade(sent, TERMS, DUE + SECOND).points == 45.0


def test_nothing_submitted_earns_nothing() -> None:
    for terms in (TERMS, LATEST):
        found = grade([], terms, DUE)
        assert (found.points, found.of, found.attempt, found.waiting) == (0.0, 50.0, None, False)


def test_accepted_earns_its_share_and_the_target_the_rest() -> None:
    assert grade([attempt("a", DUE - DAY)], TERMS, DUE).points == 20.0
    assert grade([attempt("a", DUE - DAY, reached=True)], TERMS, DUE).points == 50.0
    for wrong in (attempt("a", DUE - DAY, "WA"), attempt("a", DUE - DAY, off=True)):
        assert grade([wrong], TERMS, DUE).points == 0.0
    # The share and the days multiply.
    assert grade([attempt("a", DUE + DAY)], TERMS, DUE).points == pytest.approx(16.0)


def test_the_best_may_be_late_and_of_equal_ones_the_earliest_is_named() -> None:
    slow, fast_late = attempt("slow", DUE - DAY), attempt("fast", DUE, reached=True)
    assert grade([slow, fast_late], TERMS, DUE).attempt == fast_late
    assert grade([slow, fast_late], replace(TERMS, late_percent=100), DUE).attempt == slow
    assert grade([slow, attempt("again", DUE - SECOND)], TERMS, DUE).attempt == slow
    # Neither earns anything: what reached the target is named.
    none = replace(TERMS, accepted_percent=0, late_percent=100)
    assert grade([slow, fast_late], none, DUE).attempt == fast_late


def test_the_latest_is_the_last_one_before_the_deadline() -> None:
    good, bad = attempt("good", DUE - DAY, reached=True), attempt("bad", DUE - SECOND, "WA")
    late = attempt("late", DUE, reached=True)
    found = grade([good, bad, late], LATEST, DUE)
    assert (found.attempt, found.points, found.counts) == (bad, 0.0, False)
    assert grade([good, late], LATEST, DUE).attempt == good
    # With nothing before the deadline, the last of all.
    last = attempt("last", DUE + DAY, "WA")
    assert grade([late, last], LATEST, DUE).attempt == last
    # An extension turns late ones into ones in time.
    assert grade([good, bad, late], LATEST, DUE + DAY).attempt == late


@pytest.mark.parametrize("verdict", [None, "IE"])
@pytest.mark.parametrize("terms", [TERMS, LATEST])
def test_what_is_judged_again_or_was_never_judged_does_not_count_until_it_is(terms: Terms, verdict: str | None) -> None:
    before, again = attempt("before", DUE - DAY), attempt("again", DUE - SECOND, verdict)
    found = grade([before, again], terms, DUE)
    assert (found.attempt, found.points, found.waiting) == (before, 20.0, verdict is None)
    judged = again._replace(verdict="AC", accepted=True, reached=True)
    found = grade([before, judged], terms, DUE)
    assert (found.points, found.waiting) == (50.0, False)


def test_a_total_weighs_shares_and_drops_the_lowest() -> None:
    parts = [Part(80.0, 100.0, 3.0), Part(9.0, 10.0, 1.0), Part(0.0, 5.0, 1.0)]
    assert total(parts, drops=0).share == pytest.approx((3 * 0.8 + 0.9) / 5)
    one = total(parts, drops=1)
    assert (one.share, one.dropped) == (pytest.approx((3 * 0.8 + 0.9) / 4), {2})
    two = total(parts, drops=2)
    assert (two.share, two.dropped) == (pytest.approx(0.9), {0, 2})


def test_one_part_always_stays_and_what_has_no_weight_is_neither_counted_nor_dropped() -> None:
    assert total([Part(5.0, 10.0, 1.0)], drops=3).share == 0.5
    assert total([], drops=1).share is None
    assert total([Part(0.0, 10.0, 0.0)], drops=0).share is None
    found = total([Part(0.0, 10.0, 0.0), Part(1.0, 10.0, 1.0), Part(2.0, 10.0, 1.0)], drops=1)
    assert (found.share, found.dropped) == (0.2, {1})
    assert total([Part(1.0, 10.0, 1.0)] * 2, drops=1).dropped == {0}


_MOMENTS = st.integers(-200_000, 900_000).map(lambda s: DUE + timedelta(seconds=s))
_ATTEMPTS = st.lists(
    st.builds(
        lambda at, verdict, reached: attempt("x", at, verdict, reached=reached and verdict == "AC"),
        _MOMENTS,
        st.sampled_from(["AC", "WA", "IE", None]),
        st.booleans(),
    ),
    max_size=6,
).map(lambda found: sorted(found, key=lambda each: each.at))


@given(_ATTEMPTS, st.integers(0, 100), st.integers(0, 100), st.sampled_from(Taken))
def test_points_are_within_bounds_and_more_attempts_never_cost_the_best(
    attempts: list[Attempt], accepted: int, late: int, taken: Taken
) -> None:
    terms = Terms(50.0, accepted, late, taken)
    found = grade(attempts, terms, DUE)
    assert 0.0 <= found.points <= 50.0
    if taken is Taken.BEST and attempts:
        assert grade(attempts[:-1], terms, DUE).points <= found.points
    # A later deadline takes nothing from the best.
    if taken is Taken.BEST:
        assert grade(attempts, terms, DUE + DAY).points >= found.points
