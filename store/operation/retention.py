"""Deletes the history of submissions that ended long ago: their jobs, and their events but the last.

The submission, its judgement and its measurement stay. The last event stays for clients that wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from store.models import FINAL_STATES, Event, Job, Submission

#: Bounds one transaction: a longer one would block SQLite's other writers.
BATCH = 200


@dataclass(frozen=True, slots=True)
class Purge:
    """How many submissions lost their history, and the job after which the next call goes on (0: from the oldest)."""

    forgotten: int
    after: int


def purge_history(session: Session, *, now: datetime, keep_s: float, after: int = 0) -> Purge:
    """Deletes the history of submissions that ended more than ``keep_s`` seconds ago, among the next BATCH jobs.

    Goes through the jobs from the oldest to the first that is too young to have ended so long ago, one batch a call:
    so jobs that never end, or that were judged again lately, keep nobody else's history.
    """
    limit = now - timedelta(seconds=keep_s)
    oldest = select(Job.id).where(Job.id > after).order_by(Job.id).limit(BATCH).subquery()
    found = session.execute(
        select(Job.id, Job.submission_id, Job.state, Submission.created_at, Submission.finished_at)
        .join(oldest, oldest.c.id == Job.id)
        .join(Submission, Submission.id == Job.submission_id)
        .order_by(Job.id)
    ).all()
    ended = [
        row for row in found if row.state in FINAL_STATES and row.finished_at is not None and row.finished_at < limit
    ]
    if ended:
        submissions = [row.submission_id for row in ended]
        last = select(Submission.last_event_seq).where(Submission.id == Event.submission_id).scalar_subquery()
        session.execute(
            delete(Event)
            .where(Event.submission_id.in_(submissions), Event.seq < last)
            .execution_options(synchronize_session=False)
        )
        jobs = [row.id for row in ended]
        session.execute(delete(Job).where(Job.id.in_(jobs)).execution_options(synchronize_session=False))
    is_last = len(found) < BATCH or found[-1].created_at >= limit
    return Purge(len(ended), 0 if is_last else found[-1].id)
