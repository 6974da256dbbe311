"""Lists boards: what each is about and how many are on it, and the best values of one user on all."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from store.boards.board_key import BOARD_COLUMNS, BoardKey
from store.models import BestResult, BoardTotals, Submission


@dataclass(frozen=True, slots=True)
class BoardSummary:
    """A board, as lists of boards show it."""

    key: BoardKey
    users: int
    best_value: float
    #: Whether all its entries were made when accepted submissions were checked on the emulator.
    has_rechecks: bool = True
    #: The last submission that changed it.
    latest_submission_id: int = 0


def list_boards(session: Session, *, challenge: str | None = None) -> list[BoardSummary]:
    """Returns the boards with at least one entry, by challenge, device and version (newest first).

    Where a board has several metrics, the latest one counts, as on the board itself.
    """
    query = select(BoardTotals)
    if challenge is not None:
        query = query.where(BoardTotals.challenge == challenge)
    order = (BoardTotals.challenge, BoardTotals.device_key, BoardTotals.pack_major.desc())
    rows = session.scalars(query.order_by(*order, BoardTotals.latest_submission_id))
    # A board's last row has its latest metric.
    boards = {
        (row.challenge, row.device_key, row.pack_major): BoardSummary(
            BoardKey.of(row), row.users, row.best_value, row.has_rechecks, row.latest_submission_id
        )
        for row in rows
    }
    return list(boards.values())


def board_has_rechecks(session: Session, submission: Submission) -> bool:
    """Returns whether all entries of a submission's board were made when there were checks on the emulator.

    Of several metrics the latest one counts; a board without entries has none that was made before.
    """
    found = session.scalar(
        select(BoardTotals.has_rechecks)
        .filter_by(**BoardKey.of(submission).columns)
        .order_by(BoardTotals.latest_submission_id.desc())
        .limit(1)
    )
    return found is not False


def best_of_user(session: Session, *, user_id: int) -> dict[BoardKey, float]:
    """Returns the user's best value on each board."""
    board = (getattr(BestResult, name) for name in BOARD_COLUMNS)
    rows = session.execute(select(*board, BestResult.value).where(BestResult.user_id == user_id))
    return {BoardKey.of(row): row.value for row in rows}
