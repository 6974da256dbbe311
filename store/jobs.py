"""Leases on jobs: who works on what, and who may write its result.

``queued -> building -> built -> running -> done | dead``. A worker claims the oldest waiting job of its stage with one
UPDATE that gives it a random token; it extends the lease while it works; every change it makes afterwards carries the
token in its WHERE. A worker that was silent for too long has lost the job to another and can write nothing any more. So
each submission is judged once, whatever dies when. Attempts that end without a result are counted; at the third the
judgement is IE. All functions leave the commit to the caller; those that return False have written nothing.
"""

from __future__ import annotations

import enum
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from judge.judgement import BuildReport, Judgement
from store.artifacts import store_artifact
from store.audits import want_audit
from store.events import record_event
from store.leaderboards import record_measurement
from store.models import Job, State, Submission
from store.reports import build_report_to_json, internal_error
from store.settings import Settings
from store.submissions import record_cancelled


class Stage(enum.Enum):
    """The two kinds of work: the state a job waits in, and the state it is worked on in."""

    BUILD = (State.QUEUED, State.BUILDING)
    RUN = (State.BUILT, State.RUNNING)

    @property
    def waiting(self) -> State:
        return self.value[0]

    @property
    def working(self) -> State:
        return self.value[1]


class Standing(enum.Enum):
    """What has become of a lease."""

    HELD = "held"
    CANCEL_REQUESTED = "cancel requested"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class LeaseRules:
    """``retry_s`` is the pause after a first failure, doubled after the second, so that a passing trouble may pass."""

    lease_s: float = 30.0
    max_failures: int = 3
    retry_s: float = 2.0

    @classmethod
    def from_settings(cls, settings: Settings) -> LeaseRules:
        return cls(lease_s=settings.lease_s, max_failures=settings.max_failures, retry_s=settings.retry_s)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a job and to write its result."""

    job_id: int
    submission_id: int
    token: str
    stage: Stage
    #: 1 for the first attempt.
    attempt: int


def claim_job(
    session: Session,
    stage: Stage,
    *,
    owner: str,
    now: datetime,
    rules: LeaseRules,
    device_key: str | None = None,
    rung_before: datetime | None = None,
) -> Lease | None:
    """The oldest waiting job of the stage (and the device), now held by ``owner``; None when there is none.

    ``rung_before`` leaves jobs alone whose bell was rung since: whoever looks without having been rung takes only what
    others seem to have missed.
    """
    waiting = select(Job.id).where(Job.state == stage.waiting, Job.available_at <= now)
    if device_key is not None:
        waiting = waiting.where(Job.device_key == device_key)
    if rung_before is not None:
        waiting = waiting.where(Job.rung_at < rung_before)
    # PostgreSQL passes over rows that others are claiming at this instant; SQLite has one writer at a time.
    oldest = waiting.order_by(Job.id).limit(1).with_for_update(skip_locked=True).scalar_subquery()
    token = secrets.token_hex(16)
    row = session.execute(
        update(Job)
        .where(Job.id == oldest, Job.state == stage.waiting)
        .values(
            state=stage.working,
            lease_token=token,
            lease_owner=owner,
            lease_until=now + timedelta(seconds=rules.lease_s),
        )
        .returning(Job.id, Job.submission_id, Job.failures)
        .execution_options(synchronize_session=False)
    ).first()
    if row is None:
        return None
    lease = Lease(row.id, row.submission_id, token, stage, attempt=row.failures + 1)
    _enter(session, lease.submission_id, stage.working, {"attempt": lease.attempt}, now=now)
    return lease


def extend_lease(session: Session, lease: Lease, *, now: datetime, rules: LeaseRules) -> Standing:
    """Go on holding the job; tells, too, whether its user wants it stopped."""
    cancelled = session.execute(
        update(Job)
        .where(Job.id == lease.job_id, Job.lease_token == lease.token)
        .values(lease_until=now + timedelta(seconds=rules.lease_s))
        .returning(Job.cancel_requested)
        .execution_options(synchronize_session=False)
    ).scalar_one_or_none()
    return _standing(cancelled)


def lease_standing(session: Session, lease: Lease) -> Standing:
    """As ``extend_lease`` tells it, reading only."""
    query = select(Job.cancel_requested).where(Job.id == lease.job_id, Job.lease_token == lease.token)
    return _standing(session.execute(query).scalar_one_or_none())


def finish_build(
    session: Session, lease: Lease, *, digest: str, data: bytes, report: BuildReport, now: datetime
) -> bool:
    """Built: the artifact is stored, and the job waits for its device."""
    if lease_standing(session, lease) is Standing.LOST:
        return False
    store_artifact(session, digest, data, now=now)
    job = _let_go(
        session,
        lease,
        state=State.BUILT,
        artifact_digest=digest,
        build_report=build_report_to_json(report),
        available_at=now,
        rung_at=now,
    )
    if job is None:
        return False
    if job.cancel_requested:
        _cancel(session, job, now=now)
        return True
    _enter(session, lease.submission_id, State.BUILT, {"wall_s": report.wall_s}, now=now)
    return True


def finish_judged(session: Session, lease: Lease, judgement: Judgement, *, now: datetime) -> bool:
    """Done: the judgement, the place on the board, the final state and the event, together. A submission whose user
    has asked to stop it is cancelled instead: they were told that it is."""
    job = _let_go(session, lease, state=State.DONE, artifact_digest=None, build_report=None)
    if job is None:
        return False
    if job.cancel_requested:
        _cancel(session, job, now=now)
    else:
        _judge(session, job, judgement, now=now)
    return True


def finish_cancelled(session: Session, lease: Lease, *, now: datetime) -> bool:
    """Stopped because its user asked for it."""
    job = _let_go(session, lease, state=State.CANCELLED)
    if job is not None:
        _cancel(session, job, now=now)
    return job is not None


def hand_back(session: Session, lease: Lease, *, now: datetime) -> bool:
    """Give the job back, unharmed, because the worker is stopping. Counts as no failure."""
    job = _let_go(session, lease, state=lease.stage.waiting, available_at=now, rung_at=now)
    if job is None:
        return False
    if job.cancel_requested:
        _cancel(session, job, now=now)
    else:
        _wait_again(session, job, lease.stage.waiting, "the worker was stopped", now=now)
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
    """An attempt ended without a judgement through no fault of the submission. Gives the state that the job is in now:
    waiting for another attempt (at ``retry_from``, when the build is of no more use), cancelled, or dead with the
    judgement IE; None when the lease was lost."""
    stage = retry_from or lease.stage
    job = _let_go(session, lease, state=stage.waiting, failures=Job.failures + 1, last_error=error[:4000])
    if job is None:
        return None
    if job.cancel_requested:
        _cancel(session, job, now=now)
    elif job.failures >= rules.max_failures:
        submission = session.get_one(Submission, job.submission_id)
        judgement = internal_error(session, job, submission, job.failures)
        job.state, job.artifact_digest = State.DEAD, None
        _judge(session, job, judgement, now=now)
    else:
        job.available_at = job.rung_at = now + timedelta(seconds=rules.retry_s * 2 ** (job.failures - 1))
        _wait_again(session, job, stage.waiting, "the judge failed", now=now)
    session.flush()
    return State(job.state)


def _standing(cancel_requested: bool | None) -> Standing:
    if cancel_requested is None:
        return Standing.LOST
    return Standing.CANCEL_REQUESTED if cancel_requested else Standing.HELD


def _let_go(session: Session, lease: Lease, **values: Any) -> Job | None:
    """Change the job and end the lease, if the token still holds it. The row stays locked until the caller commits."""
    return session.scalars(
        update(Job)
        .where(Job.id == lease.job_id, Job.lease_token == lease.token)
        .values(lease_token=None, lease_owner=None, lease_until=None, **values)
        .returning(Job)
        .execution_options(synchronize_session=False, populate_existing=True)
    ).one_or_none()


def _enter(session: Session, submission_id: int, state: State, payload: dict[str, Any], *, now: datetime) -> None:
    """The submission is in this state from now on; whoever follows it hears so."""
    record_event(session, submission_id, state, payload, now=now, state=state)


def _judge(session: Session, job: Job, judgement: Judgement, *, now: datetime) -> None:
    submission = session.get_one(Submission, job.submission_id, populate_existing=True)
    submission.state = State.DONE
    submission.verdict = judgement.verdict.value
    submission.judgement = judgement.to_json()
    submission.finished_at = now
    session.flush()
    if record_measurement(session, submission, judgement, now=now):
        want_audit(session, submission, judgement, now=now)
    record_event(session, submission.id, State.DONE, {"verdict": judgement.verdict.value}, now=now)


def _cancel(session: Session, job: Job, *, now: datetime) -> None:
    job.state, job.artifact_digest = State.CANCELLED, None
    session.flush()
    record_cancelled(session, job.submission_id, now=now)


def _wait_again(session: Session, job: Job, state: State, reason: str, *, now: datetime) -> None:
    _enter(session, job.submission_id, state, {"attempt": job.failures + 1, "reason": reason}, now=now)
