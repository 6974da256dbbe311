"""Reads the data of a user's public page: places on boards, days with submissions, devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Date, cast, func, select
from sqlalchemy.orm import Session, aliased

from store.boards.board_key import BOARD_COLUMNS, BoardKey
from store.boards.listing import BoardSummary
from store.boards.ranking import counted_boards, points_of, same_board
from store.boards.totals import RANKED_MODE
from store.models import BestResult, Submission, User
from store.people.names import DELETED_PREFIX


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """A user's best result on a board, with its rank as the board has it, and the points that it earns."""

    board: BoardSummary
    value: float
    roofline_share: float | None
    points: float
    rank: int
    reached_at: datetime


def find_profiled(session: Session, username: str) -> User | None:
    """Returns the user with this name, ignoring case; None for an unknown one and a closed account."""
    if username.casefold().startswith(DELETED_PREFIX):
        return None
    return session.scalar(select(User).where(User.username_key == username.casefold(), User.is_active))


def board_places(
    session: Session, majors: Mapping[str, int], *, user_id: int, limit: int, offset: int = 0
) -> list[BoardPlace]:
    """Returns the user's results on the boards that count after the first ``offset``, those with most points first.

    ``majors`` are the major versions that count, by challenge.
    """
    boards = counted_boards(majors)
    points = points_of(boards).label("points")
    shown = (
        select(boards, BestResult.value, BestResult.roofline_share, points, BestResult.low, BestResult.created_at)
        .join(boards, same_board(boards))
        .where(BestResult.user_id == user_id)
        .order_by(points.desc(), boards.c.challenge, boards.c.device_key)
        .limit(limit)
        .offset(offset)
        .subquery("shown")
    )
    ahead = aliased(BestResult)
    same = [getattr(ahead, name) == shown.c[name] for name in BOARD_COLUMNS]
    rank = select(1 + func.count()).select_from(ahead).where(*same, ahead.high < shown.c.low).scalar_subquery()
    rows = session.execute(
        select(shown, rank.label("rank")).order_by(shown.c.points.desc(), shown.c.challenge, shown.c.device_key)
    )
    return [
        BoardPlace(
            BoardSummary(BoardKey.of(row), row.users, row.best_value),
            row.value, row.roofline_share, row.points, row.rank, row.created_at,
        )
        for row in rows
    ]  # fmt: skip


def results_by_device(session: Session, majors: Mapping[str, int], *, user_id: int) -> dict[str, int]:
    """Returns on how many of the boards that count the user has a result, by device, the most first."""
    boards = counted_boards(majors)
    results = func.count().label("results")
    found = (
        select(BestResult.device_key, results)
        .join(boards, same_board(boards))
        .where(BestResult.user_id == user_id)
        .group_by(BestResult.device_key)
        .order_by(results.desc(), BestResult.device_key)
    )
    return {row[0]: row[1] for row in session.execute(found)}


def days_with_submissions(session: Session, *, user_id: int, since: datetime) -> dict[date, int]:
    """Returns how many submissions the user sent on each day in UTC; runs and what is frozen do not count."""
    day: ColumnElement[Any]
    if session.get_bind().dialect.name == "postgresql":
        day = cast(func.timezone("UTC", Submission.created_at), Date)
    else:
        day = func.substr(Submission.created_at, 1, 10)
    found = (
        select(day.label("day"), func.count())
        .where(Submission.user_id == user_id, Submission.created_at >= since.astimezone(UTC))
        .where(Submission.mode == RANKED_MODE)
        .group_by("day")
    )
    rows = session.execute(found).all()
    # Counted apart, by their own index: the index that counts all has not which ones are frozen.
    frozen = {row[0]: row[1] for row in session.execute(found.where(Submission.frozen.is_(True)))}
    return {date.fromisoformat(str(row[0])): row[1] - frozen.get(row[0], 0) for row in rows}
