"""Deletes the history of submissions that ended long ago: their jobs, and their events but the last.

The submission, its judgement and its measurement stay. The last event stays for clients that wait for it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from store.models import FINAL_STATES, Event, Job, Submission

#: Bounds one transaction: a longer one would block SQLite's other writers.
BATCH = 200


def purge_history(session: Session, *, now: datetime, keep_s: float) -> int:
    """Deletes the history of up to BATCH submissions that ended more than ``keep_s`` seconds ago. Returns how many.

    Looks only at the oldest jobs, which are those that no earlier call has deleted.
    """
    oldest = select(Job.id).order_by(Job.id).limit(BATCH).subquery()
    ended = session.execute(
        select(Job.id, Job.submission_id)
        .join(oldest, oldest.c.id == Job.id)
        .join(Submission, Submission.id == Job.submission_id)
        .where(Job.state.in_(FINAL_STATES), Submission.finished_at < now - timedelta(seconds=keep_s))
    ).all()
    if not ended:
        return 0
    submissions = [row.submission_id for row in ended]
    last = select(Submission.last_event_seq).where(Submission.id == Event.submission_id).scalar_subquery()
    session.execute(
        delete(Event)
        .where(Event.submission_id.in_(submissions), Event.seq < last)
        .execution_options(synchronize_session=False)
    )
    jobs = [row.id for row in ended]
    session.execute(delete(Job).where(Job.id.in_(jobs)).execution_options(synchronize_session=False))
    return len(ended)
