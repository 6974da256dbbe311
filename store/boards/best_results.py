"""Keeps each user's best result on each board, and the boards' totals, in the transaction that changes a measurement.

Invariant: at every commit, ``best_results`` holds what ``best_query`` finds among the measurements, and
``board_totals`` sums it up. Measurements of what was sent after giving up, and those that are frozen, have no part in
either. Whoever adds, changes or removes a measurement calls ``keep_best_result`` before the commit.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, delete, func, inspect, select
from sqlalchemy.orm import Session, aliased

from store.boards.board_key import BOARD_COLUMNS, BoardKey
from store.models import BestResult, BoardTotals, Measurement
from store.upsert import upsert


def keep_best_result(session: Session, changed: Measurement) -> None:
    """Finds the best result of the user whose measurement was added, changed or removed, and counts the board.

    Call it after ``session.flush()``. Until the commit, other changes of the same board wait: so two results that
    arrive at once both see each other.
    """
    if changed.after_giving_up or changed.frozen:
        return
    board = BoardKey.of(changed).columns
    _lock_board(session, board, changed)
    found = session.scalars(
        select(Measurement)
        .filter_by(**board, user_id=changed.user_id, after_giving_up=False, frozen=False)
        .order_by(Measurement.value, Measurement.submission_id)
        .limit(1)
        .execution_options(populate_existing=True)
    ).one_or_none()
    own = {**board, "user_id": changed.user_id}
    held = session.scalar(select(BestResult.submission_id).filter_by(**own)) is not None
    if found is None:
        session.execute(delete(BestResult).filter_by(**own).execution_options(synchronize_session=False))
    else:
        values = {
            "submission_id": found.submission_id,
            "value": found.value,
            "low": found.value if found.low is None else found.low,
            "high": found.value if found.high is None else found.high,
            "roofline_share": found.roofline_share,
            "card": found.card,
            "created_at": found.created_at,
        }
        session.execute(upsert(session, BestResult, {**own, **values}, list(own), set(values)))
    _count_board(session, board, joined=(found is not None) - held, changed=changed)


def leave_board(session: Session, measurement: Measurement) -> None:
    """Finds the user's best result anew without a measurement that was just marked and so has no place any more."""
    own = {name: getattr(measurement, name) for name in (*BOARD_COLUMNS, "user_id", "submission_id", "value")}
    session.flush()
    # Stands for the one that left the board, as one that has been removed does.
    keep_best_result(session, Measurement(**own))


def best_query() -> Select[Any]:
    """Returns the query of all users' best results from the measurements: slow, and what the table must equal."""
    better = aliased(Measurement)
    same = [getattr(better, name) == getattr(Measurement, name) for name in (*BOARD_COLUMNS, "user_id")]
    is_better = (better.value < Measurement.value) | (
        (better.value == Measurement.value) & (better.submission_id < Measurement.submission_id)
    )
    counts = better.after_giving_up.is_(False) & better.frozen.is_(False)
    return select(
        *(getattr(Measurement, name) for name in (*BOARD_COLUMNS, "user_id", "submission_id", "value")),
        func.coalesce(Measurement.low, Measurement.value).label("low"),
        func.coalesce(Measurement.high, Measurement.value).label("high"),
        Measurement.roofline_share,
        Measurement.card,
        Measurement.created_at,
    ).where(
        Measurement.after_giving_up.is_(False),
        Measurement.frozen.is_(False),
        ~select(better.submission_id).where(*same, counts, is_better).exists(),
    )


def _lock_board(session: Session, board: dict[str, Any], changed: Measurement) -> None:
    values = {**board, "users": 0, "best_value": changed.value, "latest_submission_id": changed.submission_id}
    # Updates nothing, but locks the row, which may not have been there.
    session.execute(upsert(session, BoardTotals, values, list(board), {"metric"}))


def _count_board(session: Session, board: dict[str, Any], *, joined: int, changed: Measurement) -> None:
    totals = session.scalars(select(BoardTotals).filter_by(**board).execution_options(populate_existing=True)).one()
    best = session.scalar(select(BestResult.value).filter_by(**board).order_by(BestResult.value).limit(1))
    if best is None:
        session.delete(totals)
    else:
        totals.users += joined
        totals.best_value = best
        totals.latest_submission_id = max(totals.latest_submission_id, changed.submission_id)
        if not inspect(changed).persistent:  # removed, which is rare: this reads all of the board's measurements
            latest = session.scalar(
                select(func.max(Measurement.submission_id)).filter_by(**board, after_giving_up=False, frozen=False)
            )
            totals.latest_submission_id = latest or 0
    session.flush()
