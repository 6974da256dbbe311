"""What is deleted of submissions that ended long ago, and what stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from store.events import record_event
from store.models import Event, Job, State, Submission, User
from store.retention import purge_history

T0 = datetime(2026, 1, 2, tzinfo=UTC)
DAY_S = 86400.0


def _submission(session: Session, user: User, number: int, *, ended: datetime | None) -> int:
    submission = Submission(
        public_id=f"s{number}", user_id=user.id, challenge="c", pack_version="1.0.0", pack_major=1, pack_digest="d",
        device_key="emulator", mode="submit", source_bytes=b"", seed=0, created_at=T0, finished_at=ended,
        state=State.QUEUED if ended is None else State.DONE,
    )  # fmt: skip
    submission.job = Job(user_id=user.id, device_key="emulator", state=submission.state, available_at=T0, rung_at=T0)
    session.add(submission)
    session.flush()
    for kind in ("queued", "building", "done"):
        record_event(session, submission.id, kind, {}, now=T0)
    return submission.id


def _left(session: Session, submission_id: int) -> tuple[list[str], int]:
    events = session.scalars(select(Event.kind).filter_by(submission_id=submission_id).order_by(Event.seq))
    jobs = session.scalar(select(func.count()).select_from(Job).filter_by(submission_id=submission_id)) or 0
    return list(events), jobs


def test_only_the_history_of_what_ended_long_ago_goes(sessions: sessionmaker[Session], ada: User) -> None:
    with sessions.begin() as session:
        waiting = _submission(session, ada, 1, ended=None)
        old = _submission(session, ada, 2, ended=T0)
        new = _submission(session, ada, 3, ended=T0 + timedelta(days=2))
    now = T0 + timedelta(days=3)
    with sessions.begin() as session:
        assert purge_history(session, now=now, keep_s=2 * DAY_S) == 1
    with sessions.begin() as session:
        assert purge_history(session, now=now, keep_s=2 * DAY_S) == 0
        assert _left(session, old) == (["done"], 0)
        everything = (["queued", "building", "done"], 1)
        assert _left(session, waiting) == everything
        assert _left(session, new) == everything
        assert session.get(Submission, old) is not None
