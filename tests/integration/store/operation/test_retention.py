"""Retention deletes some rows of submissions that ended long ago, and keeps the others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from store.models import Event, Job, State, Submission, User
from store.operation import retention
from store.operation.retention import Purge, purge_history
from store.queue.events import record_event

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
        assert purge_history(session, now=now, keep_s=2 * DAY_S) == Purge(1, 0)
    with sessions.begin() as session:
        assert purge_history(session, now=now, keep_s=2 * DAY_S) == Purge(0, 0)
        assert _left(session, old) == (["done"], 0)
        everything = (["queued", "building", "done"], 1)
        assert _left(session, waiting) == everything
        assert _left(session, new) == everything
        assert session.get(Submission, old) is not None


def test_jobs_that_never_end_stop_nobody(
    sessions: sessionmaker[Session], ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    now = T0 + timedelta(days=3)
    with sessions.begin() as session:
        for number in range(4):
            _submission(session, ada, number, ended=None)
        old = _submission(session, ada, 4, ended=T0)
        for number in range(5, 9):
            young = _submission(session, ada, number, ended=now)
            session.get_one(Submission, young).created_at = now
    after, calls = 0, []
    for _ in range(5):
        with sessions.begin() as session:
            purge = purge_history(session, now=now, keep_s=2 * DAY_S, after=after)
        after = purge.after
        calls.append((purge.forgotten, after != 0))
    # Two batches of what waits, one with the old one and a young one, and then from the beginning.
    assert calls == [(0, True), (0, True), (1, False), (0, True), (0, True)]
    with sessions.begin() as session:
        assert _left(session, old) == (["done"], 0)
