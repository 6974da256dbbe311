"""Stores the times of libraries, which stand on boards without a rank."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from judge.bench.library.record import LibraryTime
from store.boards.audits import AUDITED_METRIC
from store.models import BoardTotals
from store.models import LibraryTime as Row


def library_times(session: Session, challenge: str, device_key: str, pack_major: int) -> tuple[LibraryTime, ...]:
    """Returns the libraries that have a time on a board, the fastest first."""
    rows = select(Row).where(
        Row.challenge == challenge, Row.device_key == device_key, Row.pack_major == pack_major, Row.problem == ""
    )
    return tuple(_time(row) for row in session.scalars(rows.order_by(Row.value)))


def record_library_times(
    session: Session,
    challenge: str,
    device_key: str,
    pack_major: int,
    times: Sequence[LibraryTime],
    *,
    holds_for: str,
    now: datetime,
) -> None:
    """Replaces the times of a board's libraries. The caller commits."""
    session.execute(
        delete(Row).where(Row.challenge == challenge, Row.device_key == device_key, Row.pack_major == pack_major)
    )
    for position, each in enumerate(times):
        session.add(
            Row(
                challenge=challenge, device_key=device_key, pack_major=pack_major, name=each.name, position=position,
                library=each.library, conditions=each.conditions, value=each.value, low=each.low, high=each.high,
                problem=each.problem, versions=dict(each.versions), cases=dict(each.cases), holds_for=holds_for,
                measured_at=now,
            )
        )  # fmt: skip


def boards_with_times(session: Session, device_key: str) -> dict[tuple[str, int], str | None]:
    """Returns the boards of measured times on a device, by challenge and major version, that somebody is on.

    The value is what the times of their libraries hold for; None where there are none.
    """
    boards = select(BoardTotals.challenge, BoardTotals.pack_major).where(
        BoardTotals.device_key == device_key, BoardTotals.metric == AUDITED_METRIC
    )
    known = select(Row.challenge, Row.pack_major, Row.holds_for).where(Row.device_key == device_key)
    held = {(challenge, major): digest for challenge, major, digest in session.execute(known)}
    return {(challenge, major): held.get((challenge, major)) for challenge, major in session.execute(boards)}


def _time(row: Row) -> LibraryTime:
    return LibraryTime(
        row.name, row.library, row.conditions, row.value, row.low, row.high, row.problem, row.versions, row.cases
    )
