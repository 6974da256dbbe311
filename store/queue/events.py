"""Stores a submission's events, which its page and ``gpujudge watch`` follow.

A counter in the submission's row numbers the events. Updating it locks the row, so concurrent writers (a worker, and a
user who cancels) get numbers in commit order, and a reader that has seen event N has seen all earlier ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from store.models import Event, Job, State, Submission


def record_event(
    session: Session,
    submission_id: int,
    kind: str,
    payload: Mapping[str, Any],
    *,
    now: datetime,
    lease_token: str | None = None,
    state: State | None = None,
) -> Event | None:
    """Adds an event and, if ``state`` is given, sets the submission's state.

    With ``lease_token``, it does so only if that lease still holds the submission's job, and otherwise returns None.
    """
    count = (
        update(Submission)
        .where(Submission.id == submission_id)
        .values(last_event_seq=Submission.last_event_seq + 1, **({} if state is None else {"state": state}))
        .returning(Submission.last_event_seq)
        .execution_options(synchronize_session=False)
    )
    if lease_token is not None:
        count = count.where(
            select(Job.id).where(Job.submission_id == submission_id, Job.lease_token == lease_token).exists()
        )
    seq = session.execute(count).scalar_one_or_none()
    if seq is None:
        return None
    event = Event(submission_id=submission_id, seq=seq, kind=kind, payload=dict(payload), created_at=now)
    session.add(event)
    session.flush()
    return event


def events_after(session: Session, submission: Submission, seq: int) -> list[Event]:
    """Returns the events with numbers above ``seq``, in order."""
    found = session.scalars(
        select(Event).where(Event.submission_id == submission.id, Event.seq > seq).order_by(Event.seq)
    )
    return list(found)


def last_event_seqs(session: Session, public_ids: Collection[str]) -> dict[str, int]:
    """Returns the last event's number of each submission, by public id. Unknown ids are left out."""
    found = session.execute(
        select(Submission.public_id, Submission.last_event_seq).where(Submission.public_id.in_(public_ids))
    )
    return {row.public_id: row.last_event_seq for row in found}
