"""Repairs the queue periodically: ends expired leases and finds jobs whose ring was lost.

Each function may run in any number of processes at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from store.models import Duty, Job, State
from store.queue.jobs import Lease, LeaseRules, Stage, lose_job
from store.queue.queues import BUILD_QUEUE, device_queue
from store.upsert import upsert

#: Limits one transaction: a longer one would block SQLite's other writers.
BATCH = 100
_SWEEP = "sweep"


@dataclass(frozen=True, slots=True)
class Expired:
    """An expired lease; ``state`` is the new state of its job."""

    job_id: int
    owner: str
    state: State
    traceparent: str | None


def expire_leases(session: Session, *, now: datetime, rules: LeaseRules) -> list[Expired]:
    """Ends the leases that were not extended in time: their workers are lost. Returns them."""
    late = session.execute(
        select(Job.id, Job.submission_id, Job.lease_token, Job.lease_owner, Job.state, Job.traceparent)
        .where(Job.lease_until < now)
        .order_by(Job.lease_until)
        .limit(BATCH)
        .with_for_update(skip_locked=True)
    ).all()
    expired = []
    for row in late:
        stage = Stage.BUILD if row.state == State.BUILDING else Stage.RUN
        lease = Lease(row.id, row.submission_id, row.lease_token, stage, attempt=0)
        error = f"the worker {row.lease_owner} was lost while the job was {row.state}"
        state = lose_job(session, lease, error, now=now, rules=rules)
        if state is not None:
            expired.append(Expired(row.id, row.lease_owner, state, row.traceparent))
    return expired


def queues_to_ring_again(session: Session, *, now: datetime, after_s: float) -> set[str]:
    """Returns the queues with a job that waited ``after_s`` unclaimed since its last ring; marks it rung.

    A job is rung for less and less often (after 1, 2, 4, ... times ``after_s``), so that a queue without workers does
    not fill the broker.
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


def record_sweep(session: Session, *, owner: str, now: datetime) -> None:
    """Records that a sweep begins, so that other processes need not sweep."""
    values = {"name": _SWEEP, "done_at": now, "done_by": owner}
    session.execute(upsert(session, Duty, values, ["name"], {"done_at", "done_by"}))


def claim_overdue_sweep(session: Session, *, owner: str, now: datetime, after_s: float) -> bool:
    """Claims the sweep if none has begun for ``after_s`` seconds. Returns whether the caller must sweep.

    Only one caller gets True. If no sweep was ever recorded, the time counts from now.
    """
    session.execute(upsert(session, Duty, {"name": _SWEEP, "done_at": now, "done_by": owner}, ["name"], set()))
    taken = session.execute(
        update(Duty)
        .where(Duty.name == _SWEEP, Duty.done_at < now - timedelta(seconds=after_s))
        .values(done_at=now, done_by=owner)
        .returning(Duty.name)
        .execution_options(synchronize_session=False)
    )
    return taken.first() is not None


@dataclass(frozen=True, slots=True)
class QueueDelays:
    """The queue's delays in seconds; None where there is no sweep, lease or waiting job.

    ``sweep_age_s``: since the last sweep began. ``lease_overdue_s``: since the oldest lease expired, 0 if none has.
    ``oldest_wait_s``: since the longest waiting job became available.
    """

    sweep_age_s: float | None
    lease_overdue_s: float | None
    oldest_wait_s: float | None


def queue_delays(session: Session, *, now: datetime) -> QueueDelays:
    """Returns the queue's current delays. Only reads."""
    swept_at = session.scalar(select(Duty.done_at).where(Duty.name == _SWEEP))
    until = session.scalar(select(func.min(Job.lease_until)))
    waiting = select(func.min(Job.available_at)).where(Job.state.in_([State.QUEUED, State.BUILT]))
    since = session.scalar(waiting)
    return QueueDelays(
        sweep_age_s=None if swept_at is None else max(0.0, (now - swept_at).total_seconds()),
        lease_overdue_s=None if until is None else max(0.0, (now - until).total_seconds()),
        oldest_wait_s=None if since is None else max(0.0, (now - since).total_seconds()),
    )
