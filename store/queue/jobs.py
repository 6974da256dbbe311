"""Leases jobs to workers and moves jobs through their states.

``queued -> building -> built -> running -> done | dead``. A worker claims the next waiting job of its stage with one
UPDATE that sets a random lease token, and extends the lease while it works. Every later UPDATE requires the token, so a
worker whose lease expired can write nothing. Thus each submission is judged exactly once, whichever process dies.

Failed attempts are counted; after ``max_failures`` the judgement is IE. Lost workers are counted separately, up to
``max_losses``. The caller commits; functions that return False or None have written nothing.
"""

from __future__ import annotations

import enum
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from judge.judgement import BuildReport, Judgement
from store.boards.audits import request_audit
from store.boards.rechecks import request_recheck
from store.boards.scores import record_measurement
from store.boards.totals import count_judgement
from store.languages import is_job_in
from store.models import Device, Job, State, Submission
from store.operation.webhooks import record_accepted
from store.queue.artifacts import store_artifact
from store.queue.events import record_event
from store.queue.turns import in_turn, record_judging_time
from store.reports import internal_error
from store.settings import Settings
from store.submissions import record_cancelled
from store.teaching.freezes import is_frozen_entry
from store.teaching.goals import record_goal


class Stage(enum.Enum):
    """The two stages of judging, each with the state of a waiting job and that of a job in work."""

    BUILD = (State.QUEUED, State.BUILDING)
    RUN = (State.BUILT, State.RUNNING)

    @property
    def waiting(self) -> State:
        """The state of a job that no worker has."""
        return self.value[0]

    @property
    def working(self) -> State:
        """The state of a job that a worker has leased."""
        return self.value[1]


class LeaseStatus(enum.Enum):
    """Whether a lease is held, is lost, or should be given up because the user cancelled."""

    HELD = "held"
    CANCEL_REQUESTED = "cancel requested"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class LeaseRules:
    """The duration of a lease and the limits on retries.

    ``retry_s`` is the pause after the first failure; it doubles with each further one, so that brief faults can pass.
    """

    lease_s: float = 30.0
    max_failures: int = 3
    max_losses: int = 10
    retry_s: float = 2.0

    @classmethod
    def from_settings(cls, settings: Settings) -> LeaseRules:
        """Returns the rules that the operator's settings give."""
        return cls(
            lease_s=settings.lease_s,
            max_failures=settings.max_failures,
            max_losses=settings.max_losses,
            retry_s=settings.retry_s,
        )


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's right to work on a job and to write its result."""

    job_id: int
    submission_id: int
    token: str
    stage: Stage
    #: 1 for the first attempt.
    attempt: int
    #: How long the job had waited to be taken.
    waited_s: float = 0.0
    #: The trace context (W3C) in which it is worked on.
    traceparent: str | None = None


def claim_job(
    session: Session,
    stage: Stage,
    *,
    owner: str,
    now: datetime,
    rules: LeaseRules,
    device_key: str | None = None,
    rung_before: datetime | None = None,
    lacking: Collection[str] = (),
) -> Lease | None:
    """Claims the stage's next waiting job (``store.queue.turns``) for ``owner``. Returns None if no job waits.

    ``device_key`` restricts the claim to one device; one that an operator holds runs nothing. ``rung_before`` skips
    jobs rung since then, so that polling takes only jobs whose ring was probably lost. ``lacking`` are languages that
    the worker leaves to others.
    """
    waiting = _waiting(stage, now=now, device_key=device_key)
    if rung_before is not None:
        waiting = waiting.where(Job.rung_at < rung_before)
    if lacking:
        waiting = waiting.where(~is_job_in(lacking))
    # PostgreSQL skips rows that other workers are claiming; SQLite has only one writer at a time.
    first = waiting.order_by(*in_turn()).limit(1).with_for_update(skip_locked=True).scalar_subquery()
    token = secrets.token_hex(16)
    row = session.execute(
        update(Job)
        .where(Job.id == first, Job.state == stage.waiting)
        .values(
            state=stage.working,
            lease_token=token,
            lease_owner=owner,
            lease_until=now + timedelta(seconds=rules.lease_s),
        )
        .returning(
            Job.id, Job.submission_id, (Job.failures + Job.losses).label("attempts"), Job.available_at, Job.traceparent
        )
        .execution_options(synchronize_session=False)
    ).first()
    if row is None:
        return None
    waited_s = (now - row.available_at).total_seconds()
    lease = Lease(row.id, row.submission_id, token, stage, row.attempts + 1, waited_s, row.traceparent)
    _record_state(session, lease.submission_id, stage.working, {"attempt": lease.attempt}, now=now)
    return lease


def is_waiting(session: Session, stage: Stage, *, now: datetime, device_key: str | None = None) -> bool:
    """Returns whether a job waits that ``claim_job`` would give to a worker of this stage and device."""
    waiting = _waiting(stage, now=now, device_key=device_key)
    return session.scalar(waiting.limit(1)) is not None


def extend_lease(session: Session, lease: Lease, *, now: datetime, rules: LeaseRules) -> LeaseStatus:
    """Extends the lease by ``rules.lease_s``. Returns its status."""
    cancelled = session.execute(
        update(Job)
        .where(Job.id == lease.job_id, Job.lease_token == lease.token)
        .values(lease_until=now + timedelta(seconds=rules.lease_s))
        .returning(Job.cancel_requested)
        .execution_options(synchronize_session=False)
    ).scalar_one_or_none()
    return _status(cancelled)


def lease_status(session: Session, lease: Lease) -> LeaseStatus:
    """Returns the lease's status. Only reads."""
    query = select(Job.cancel_requested).where(Job.id == lease.job_id, Job.lease_token == lease.token)
    return _status(session.execute(query).scalar_one_or_none())


def finish_build(
    session: Session, lease: Lease, *, digest: str, data: bytes, report: BuildReport, now: datetime
) -> bool:
    """Stores the artifact and queues the job for its device. Returns False if the lease was lost.

    If its user has cancelled it, cancels it instead.
    """
    if lease_status(session, lease) is LeaseStatus.LOST:
        return False
    store_artifact(session, digest, data, now=now)
    job = _end_lease(
        session,
        lease,
        state=State.BUILT,
        artifact_digest=digest,
        build_report=report,
        available_at=now,
        rung_at=now,
    )
    if job is None:
        return False
    if job.cancel_requested:
        _record_cancellation(session, job, now=now)
        return True
    _record_state(session, lease.submission_id, State.BUILT, {"wall_s": report.wall_s}, now=now)
    return True


def finish_judged(session: Session, lease: Lease, judgement: Judgement, *, now: datetime) -> bool:
    """Writes the judgement, the score, the final state and the event. Returns False if the lease was lost.

    If its user has cancelled the submission, cancels it instead: the user was told that it is cancelled.
    """
    job = _end_lease(session, lease, state=State.DONE, artifact_digest=None, build_report=None)
    if job is None:
        return False
    if job.cancel_requested:
        _record_cancellation(session, job, now=now)
    else:
        _record_judgement(session, job, judgement, now=now)
    return True


def finish_cancelled(session: Session, lease: Lease, *, now: datetime) -> bool:
    """Ends a job that its user cancelled. Returns False if the lease was lost."""
    job = _end_lease(session, lease, state=State.CANCELLED)
    if job is not None:
        _record_cancellation(session, job, now=now)
    return job is not None


def hand_back(session: Session, lease: Lease, *, now: datetime) -> bool:
    """Returns the job to its queue because the worker is stopping. False if the lease was lost.

    The attempt does not count as a failure.
    """
    job = _end_lease(session, lease, state=lease.stage.waiting, available_at=now, rung_at=now)
    if job is None:
        return False
    if job.cancel_requested:
        _record_cancellation(session, job, now=now)
    else:
        _requeue(session, job, lease.stage.waiting, "the worker was stopped", now=now)
    return True


def fail_job(
    session: Session,
    lease: Lease,
    error: str,
    *,
    now: datetime,
    rules: LeaseRules,
    retry_from: Stage | None = None,
) -> State | None:
    """Records an attempt that failed through no fault of the submission. Returns the job's new state.

    The job waits for another attempt (from stage ``retry_from``, if the build must be repeated), is cancelled, or is
    dead with the judgement IE. Returns None if the lease was lost.
    """
    stage = retry_from or lease.stage
    job = _end_lease(session, lease, state=stage.waiting, failures=Job.failures + 1, last_error=error[:4000])
    if job is None:
        return None
    if job.cancel_requested:
        _record_cancellation(session, job, now=now)
    elif job.failures >= rules.max_failures:
        _give_up(session, job, now=now)
    else:
        job.available_at = job.rung_at = now + timedelta(seconds=rules.retry_s * 2 ** (job.failures - 1))
        _requeue(session, job, stage.waiting, "the judge failed", now=now)
    session.flush()
    return State(job.state)


def lose_job(session: Session, lease: Lease, error: str, *, now: datetime, rules: LeaseRules) -> State | None:
    """Records that the job's worker was lost. Returns the job's new state, or None if the lease was lost.

    The job waits for another attempt, or is dead after ``rules.max_losses``: then the submission is likely the cause.
    """
    job = _end_lease(session, lease, state=lease.stage.waiting, losses=Job.losses + 1, last_error=error[:4000])
    if job is None:
        return None
    if job.cancel_requested:
        _record_cancellation(session, job, now=now)
    elif job.losses >= rules.max_losses:
        _give_up(session, job, now=now)
    else:
        # The first loss causes no pause; repeated losses cause longer pauses.
        job.available_at = job.rung_at = now + timedelta(seconds=rules.retry_s * min(job.losses - 1, 5))
        _requeue(session, job, lease.stage.waiting, "the worker was lost", now=now)
    session.flush()
    return State(job.state)


def _waiting(stage: Stage, *, now: datetime, device_key: str | None) -> Select[int]:
    """Returns the query of the jobs that wait. A device that an operator holds runs nothing."""
    waiting = select(Job.id).where(Job.state == stage.waiting, Job.available_at <= now)
    if device_key is not None:
        waiting = waiting.where(Job.device_key == device_key)
    if stage is Stage.RUN:
        waiting = waiting.where(Job.device_key.not_in(select(Device.key).where(Device.held.is_not(None))))
    return waiting


def _give_up(session: Session, job: Job, *, now: datetime) -> None:
    """Ends the job with the judgement IE."""
    submission = session.get_one(Submission, job.submission_id)
    judgement = internal_error(session, job, submission, job.failures + job.losses)
    job.state, job.artifact_digest = State.DEAD, None
    _record_judgement(session, job, judgement, now=now)


def _status(cancel_requested: bool | None) -> LeaseStatus:
    if cancel_requested is None:
        return LeaseStatus.LOST
    return LeaseStatus.CANCEL_REQUESTED if cancel_requested else LeaseStatus.HELD


def _end_lease(session: Session, lease: Lease, **values: Any) -> Job | None:
    """Ends the lease and sets the job's columns. Returns None if the lease was lost.

    The row stays locked until the caller commits.
    """
    return session.scalars(
        update(Job)
        .where(Job.id == lease.job_id, Job.lease_token == lease.token)
        .values(lease_token=None, lease_owner=None, lease_until=None, **values)
        .returning(Job)
        .execution_options(synchronize_session=False, populate_existing=True)
    ).one_or_none()


def _record_state(
    session: Session, submission_id: int, state: State, payload: dict[str, Any], *, now: datetime
) -> None:
    """Sets the submission's state and records the event."""
    record_event(session, submission_id, state, payload, now=now, state=state)


def _record_judgement(session: Session, job: Job, judgement: Judgement, *, now: datetime) -> None:
    submission = session.get_one(Submission, job.submission_id, populate_existing=True)
    submission.state = State.DONE
    submission.verdict = judgement.verdict.value
    submission.judgement = judgement
    submission.finished_at = now
    submission.frozen = is_frozen_entry(session, submission)
    session.flush()
    count_judgement(session, submission, now=now)
    record_goal(session, submission, judgement, now=now)
    if judgement.cases:
        record_judging_time(session, submission.device_key, judgement.wall_s)
    if record_measurement(session, submission, judgement, now=now):
        request_audit(session, submission, judgement, now=now)
    request_recheck(session, submission, judgement, now=now)
    if not submission.frozen:
        record_accepted(session, submission, judgement, now=now)
    record_event(session, submission.id, State.DONE, {"verdict": judgement.verdict.value}, now=now)


def _record_cancellation(session: Session, job: Job, *, now: datetime) -> None:
    job.state, job.artifact_digest = State.CANCELLED, None
    session.flush()
    record_cancelled(session, job.submission_id, now=now)


def _requeue(session: Session, job: Job, state: State, reason: str, *, now: datetime) -> None:
    _record_state(
        session, job.submission_id, state, {"attempt": job.failures + job.losses + 1, "reason": reason}, now=now
    )
