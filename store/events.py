"""The steps of a submission, as its page and ``gpujudge watch`` follow them.

Numbers are given by a counter on the submission's row: the update locks the row, so that two writers (a worker, and a
user who cancels) get numbers in the order in which they commit, and a reader who has seen N has seen all before it.
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
    """Add an event; ``state`` is that of the submission from then on, where it changes. With ``lease_token``, only if
    the submission's job is still held by it; None when it is not."""
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
    """The events numbered above ``seq``, in order."""
    found = session.scalars(
        select(Event).where(Event.submission_id == submission.id, Event.seq > seq).order_by(Event.seq)
    )
    return list(found)


def last_event_seqs(session: Session, public_ids: Collection[str]) -> dict[str, int]:
    """The number of the last event of each of these submissions, by public id; without those that there are not."""
    found = session.execute(
        select(Submission.public_id, Submission.last_event_seq).where(Submission.public_id.in_(public_ids))
    )
    return {row.public_id: row.last_event_seq for row in found}
