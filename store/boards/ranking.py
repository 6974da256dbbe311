"""Ranks users over all boards, by points that a query sums from each user's best results.

A result earns 100 times its share of the roofline, at most 100. Where the challenge has no roofline, the share is the
board's best value / the result. Users whose accounts are closed are left out. Equal points share a rank, and the next
rank is left out.

A board counts that ranks times for the major version of its challenge that the caller names; of several metrics, the
latest one, as on the board itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import CTE, ColumnElement, Subquery, and_, case, false, func, or_, select
from sqlalchemy.orm import Session, aliased

from store.models import BestResult, BoardTotals, User

#: What a result at the roofline, or the best result of a board without one, earns.
FULL_POINTS = 100.0
#: Points are compared, and so ranked, to so many decimals: the order of summation changes later ones.
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class RankedUser:
    """A user's line in the ranking. ``results`` counts the boards with a result, ``first`` those with none better."""

    rank: int
    username: str
    points: float
    results: int
    first: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """All users with points, those with most first, and then by name."""

    rows: tuple[RankedUser, ...]

    def of(self, username: str) -> RankedUser | None:
        """Returns the user's line, or None for a user without results on these boards."""
        return next((row for row in self.rows if row.username == username), None)

    @property
    def results(self) -> int:
        """How many results were counted: what reading the ranking costs grows with it."""
        return sum(row.results for row in self.rows)


def rank_users(session: Session, majors: Mapping[str, int], *, device: str | None = None) -> Ranking:
    """Returns the users by points. ``majors`` are the major versions that count, by challenge."""
    ranked = _ranked(majors, device)
    found = session.execute(
        select(ranked.c.rank, User.username, ranked.c.points, ranked.c.results, ranked.c.first)
        .join_from(ranked, User, User.id == ranked.c.user_id)
        .order_by(ranked.c.rank, User.username_key)
    )
    return Ranking(tuple(RankedUser(*row) for row in found))


def count_boards(session: Session, majors: Mapping[str, int]) -> dict[str, int]:
    """Returns how many boards count, by device, in the order of the devices' keys."""
    boards = counted_boards(majors)
    found = select(boards.c.device_key, func.count()).group_by(boards.c.device_key).order_by(boards.c.device_key)
    return {row[0]: row[1] for row in session.execute(found)}


def counted_boards(majors: Mapping[str, int], device: str | None = None) -> CTE:
    """Returns the boards that count as a table in a query: no two of the same challenge and device."""
    challenges: dict[int, list[str]] = defaultdict(list)
    for challenge, major in majors.items():
        challenges[major].append(challenge)
    current = [
        and_(BoardTotals.pack_major == major, BoardTotals.challenge.in_(sorted(slugs)))
        for major, slugs in sorted(challenges.items())
    ]
    later = aliased(BoardTotals)
    same = [getattr(later, name) == getattr(BoardTotals, name) for name in ("challenge", "device_key", "pack_major")]
    newer = select(later.metric).where(*same, later.latest_submission_id > BoardTotals.latest_submission_id)
    found = select(
        BoardTotals.challenge,
        BoardTotals.device_key,
        BoardTotals.pack_major,
        BoardTotals.metric,
        BoardTotals.users,
        BoardTotals.best_value,
    ).where(or_(false(), *current), ~newer.exists())
    if device is not None:
        found = found.where(BoardTotals.device_key == device)
    return found.cte("counted_boards")


def same_board(boards: CTE) -> ColumnElement[bool]:
    """Returns the condition that a best result is of one of ``counted_boards``, and of which."""
    return and_(_same_place(boards), _counts(boards))


def points_of(boards: CTE) -> ColumnElement[float]:
    """Returns the points of a best result that is joined with ``counted_boards``."""
    share = case(
        (BestResult.roofline_share >= 1.0, 1.0),
        (BestResult.roofline_share.is_not(None), BestResult.roofline_share),
        (BestResult.value <= boards.c.best_value, 1.0),
        else_=boards.c.best_value / BestResult.value,
    )
    return FULL_POINTS * share


def _same_place(boards: CTE) -> ColumnElement[bool]:
    return and_(BestResult.challenge == boards.c.challenge, BestResult.device_key == boards.c.device_key)


def _counts(boards: CTE) -> ColumnElement[bool]:
    return and_(BestResult.pack_major == boards.c.pack_major, BestResult.metric == boards.c.metric)


def _ranked(majors: Mapping[str, int], device: str | None) -> Subquery:
    """Returns each user with points, with their rank."""
    boards = counted_boards(majors, device)
    counts = _counts(boards)
    # Joined by two columns of the four, and then counted by the others: PostgreSQL takes four that go together for
    # independent, expects hardly any rows, and sorts them all on disk.
    sums = (
        select(
            BestResult.user_id,
            func.sum(case((counts, points_of(boards)), else_=0.0)).label("points"),
            func.sum(case((counts, 1), else_=0)).label("results"),
            func.sum(case((and_(counts, BestResult.value <= boards.c.best_value), 1), else_=0)).label("first"),
        )
        .join(boards, _same_place(boards))
        .group_by(BestResult.user_id)
        .subquery("sums")
    )
    order = func.round(sums.c.points * 10.0**DECIMALS)
    return (
        select(sums, func.rank().over(order_by=order.desc()).label("rank"))
        .join(User, User.id == sums.c.user_id)
        .where(User.is_active, sums.c.results > 0)
        .subquery("ranked")
    )
