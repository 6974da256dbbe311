"""What must happen though nobody is there to do it: expired leases, bells that were not heard, artifacts left over.

Each function may run in any number of processes at once, and does nothing when there is nothing to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from store.jobs import Lease, LeaseRules, Stage, fail_job
from store.models import Job, State
from store.queues import BUILD_QUEUE, device_queue

#: More than that at once would hold the database's writer for long.
BATCH = 100


@dataclass(frozen=True, slots=True)
class Expired:
    """A lease whose worker was silent for too long, and the state its job is in now."""

    job_id: int
    owner: str
    state: State


def expire_leases(session: Session, *, now: datetime, rules: LeaseRules) -> list[Expired]:
    """End the leases that were not extended in time: each is a failed attempt of its job."""
    late = session.execute(
        select(Job.id, Job.submission_id, Job.lease_token, Job.lease_owner, Job.state, Job.failures)
        .where(Job.lease_until < now)
        .order_by(Job.lease_until)
        .limit(BATCH)
        .with_for_update(skip_locked=True)
    ).all()
    expired = []
    for row in late:
        stage = Stage.BUILD if row.state == State.BUILDING else Stage.RUN
        lease = Lease(row.id, row.submission_id, row.lease_token, stage, attempt=row.failures + 1)
        error = f"the worker {row.lease_owner} was lost while the job was {row.state}"
        state = fail_job(session, lease, error, now=now, rules=rules)
        if state is not None:
            expired.append(Expired(row.id, row.lease_owner, state))
    return expired


def unheard_queues(session: Session, *, now: datetime, after_s: float) -> set[str]:
    """The queues to ring because a job has waited in them, unclaimed, for ``after_s`` since its bell was last rung.

    The longer a job waits, the rarer it is rung for (after 1, 2, 4, ... times ``after_s``), so that a queue that
    nobody serves does not fill the broker.
    """
    waiting = session.scalars(
        select(Job)
        .where(
            Job.state.in_([State.QUEUED, State.BUILT]),
            Job.available_at <= now,
            Job.rung_at < now - timedelta(seconds=after_s),
        )
        .order_by(Job.id)
        .limit(BATCH)
        .with_for_update(skip_locked=True)
    )
    queues: set[str] = set()
    for job in waiting:
        if now - job.rung_at >= max(timedelta(seconds=after_s), job.rung_at - job.available_at):
            job.rung_at = now
            queues.add(BUILD_QUEUE if job.state == State.QUEUED else device_queue(job.device_key))
    session.flush()
    return queues
