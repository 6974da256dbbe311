"""One attempt at one job, the same for both stages: claim, hold the lease, work, write the outcome.

The work returns what is to be written, as a function of a session; it is called in the one transaction that also ends
the lease, and writes nothing if the lease is no longer held. Anything the work raises is an attempt that failed, never
the end of the worker.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import datetime

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from judge.errors import Cancelled, InternalError
from store.doorbell import ring
from store.jobs import Lease, Stage, Standing, claim_job, fail_job, finish_cancelled, hand_back
from store.models import Job
from workers.context import WorkerContext
from workers.heartbeat import Watch, holding

log = structlog.get_logger(__name__)

#: Writes the outcome; falsy when the lease was lost and nothing was written.
Finish = Callable[[Session], object]
Work = Callable[[WorkerContext, Watch], Finish]


class BuildAgainError(InternalError):
    """What was built is of no more use: the next attempt begins with the build."""


def attempt_one(
    context: WorkerContext,
    stage: Stage,
    work: Work,
    *,
    device_key: str | None = None,
    rung_before: datetime | None = None,
) -> Lease | None:
    """Claim the oldest waiting job and work on it to the end of the stage. None when nothing waits.

    Raises SQLAlchemyError when the database cannot be reached, before or (after long patience) after the work.
    """
    with context.sessions.begin() as session:
        lease = claim_job(
            session,
            stage,
            owner=context.owner,
            now=context.clock(),
            rules=context.rules,
            device_key=device_key,
            rung_before=rung_before,
        )
    if lease is None:
        return None
    with structlog.contextvars.bound_contextvars(job=lease.job_id, stage=stage.name.lower(), attempt=lease.attempt):
        log.info("job.claimed")
        context.in_hand.add(lease)
        with holding(context, lease) as watch:
            finish = _work(context, watch, work)
            job = context.persist(lambda session: _finished(session, lease, finish))
            context.in_hand.discard(lease)
            if job is not None and job.available_at <= context.clock():
                ring(context.bell, job)
        if job is None:
            log.warning("job.lease_lost")
        else:
            log.info("job.left", state=job.state)
    return lease


def _finished(session: Session, lease: Lease, finish: Finish) -> Job | None:
    """The job as ``finish`` has left it; None when the lease was lost."""
    return session.get_one(Job, lease.job_id) if finish(session) else None


def _work(context: WorkerContext, watch: Watch, work: Work) -> Finish:
    lease = watch.lease
    try:
        return work(context, watch)
    except Cancelled:
        if watch.standing is Standing.CANCEL_REQUESTED:
            return lambda session: finish_cancelled(session, lease, now=context.clock())
        return lambda session: hand_back(session, lease, now=context.clock())
    except InternalError as error:
        log.error("job.failed", error=str(error))
        return _failure(context, lease, error)
    except SQLAlchemyError as error:
        log.error("job.failed", error=str(error))
        return _failure(context, lease, error)
    except Exception as error:
        log.exception("job.crashed")
        return _failure(context, lease, error)
    except BaseException:
        # The process is being ended from within (SystemExit): the job goes back, whole, to another worker.
        context.persist(lambda session: hand_back(session, lease, now=context.clock()))
        raise


def _failure(context: WorkerContext, lease: Lease, error: Exception) -> Finish:
    retry_from = Stage.BUILD if isinstance(error, BuildAgainError) else None
    text = f"{type(error).__name__}: {error}"
    return lambda session: fail_job(
        session, lease, text, now=context.clock(), rules=context.rules, retry_from=retry_from
    )


def abandon(context: WorkerContext) -> None:
    """Hand back what is in hand while its work still goes on: what it comes to will find the lease lost."""
    for lease in tuple(context.in_hand):
        with contextlib.suppress(SQLAlchemyError), context.sessions.begin() as session:
            hand_back(session, lease, now=context.clock())


def held_job(session: Session, lease: Lease) -> Job:
    """The job of the lease. Raises Cancelled when it is not held any more."""
    job = session.get(Job, lease.job_id)
    if job is None or job.lease_token != lease.token:
        raise Cancelled
    return job
