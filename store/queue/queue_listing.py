"""Lists waiting and running work, for operators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from store.columns import UtcDateTime
from store.models import FINAL_STATES, Event, Job, State, Submission, User
from store.queue.turns import in_turn

#: An operator looks at no more.
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """An unfinished job, in its state ``since`` then.

    ``worker`` is who works on it, if anybody does; ``failed`` counts attempts that came to nothing, and ``last_error``
    says why the last of them did.
    """

    public_id: str
    username: str
    challenge: str
    device_key: str
    mode: str
    state: str
    created_at: datetime
    since: datetime
    worker: str | None
    last_error: str | None
    failed: int


def list_queue(session: Session, *, limit: int = MOST_SHOWN) -> list[QueuedJob]:
    """Returns the unfinished jobs: what runs, then what waits, in the order in which it is taken."""
    open_states = [state for state in State if state not in FINAL_STATES]
    entered = select(func.max(Event.created_at)).where(Event.submission_id == Submission.id, Event.kind == Job.state)
    in_work = case((Job.state.in_((State.RUNNING, State.BUILDING)), 0), else_=1)
    rows = session.execute(
        select(
            Submission.public_id,
            User.username,
            Submission.challenge,
            Job.device_key,
            Submission.mode,
            Job.state,
            Submission.created_at,
            func.coalesce(entered.scalar_subquery(), Submission.created_at, type_=UtcDateTime).label("since"),
            Job.lease_owner.label("worker"),
            Job.last_error,
            (Job.failures + Job.losses).label("failed"),
        )
        .join(Submission, Submission.id == Job.submission_id)
        .join(User, User.id == Job.user_id)
        .where(Job.state.in_(open_states))
        .order_by(in_work, *in_turn())
        .limit(limit)
    )
    return [QueuedJob(**row._mapping) for row in rows]
