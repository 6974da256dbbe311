"""Makes one attempt at one job, in either stage: claims it, holds the lease, works, writes the outcome.

The work returns a function that writes the outcome. It is called in the transaction that also ends the lease, and
writes nothing if the lease was lost. An exception in the work fails the attempt, never the worker.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from judge.errors import Cancelled, InternalError
from logs.traces import trace_id_of
from store.models import Job
from store.queue.doorbell import ring
from store.queue.jobs import Lease, LeaseStatus, Stage, claim_job, fail_job, finish_cancelled, hand_back
from workers.context import WorkerContext
from workers.heartbeat import LeaseWatch, holding

log = structlog.get_logger(__name__)

#: Writes the outcome. Returns a falsy value if the lease was lost, having written nothing.
Finish = Callable[[Session], object]
Work = Callable[[WorkerContext, LeaseWatch], Finish]


class BuildAgainError(InternalError):
    """Raised when the artifact is missing or outdated: the next attempt begins with the build."""


def attempt_one(
    context: WorkerContext,
    stage: Stage,
    work: Work,
    *,
    device_key: str | None = None,
    rung_before: datetime | None = None,
    lacking: Collection[str] = (),
) -> Lease | None:
    """Claims the oldest waiting job and makes one attempt at it. Returns None if no job waits.

    ``lacking`` are languages that are left to other workers.

    Raises SQLAlchemyError if the database is unreachable, also after the work, once ``persist`` gives up.
    """
    now = context.clock()
    with context.sessions.begin() as session:
        claimed = claim_job(
            session,
            stage,
            owner=context.owner,
            now=now,
            rules=context.rules,
            device_key=device_key,
            rung_before=rung_before,
            lacking=lacking,
        )
    if claimed is None:
        return None
    name, parent, waited = stage.name.lower(), claimed.traceparent, timedelta(seconds=claimed.waited_s)
    context.traces.record("queue", parent=parent, began=now - waited, ended=now, stage=name)
    with (
        context.traces.span(name, parent=parent, job=claimed.job_id, attempt=claimed.attempt) as span,
        structlog.contextvars.bound_contextvars(
            trace=trace_id_of(parent), job=claimed.job_id, stage=name, attempt=claimed.attempt
        ),
    ):
        lease = replace(claimed, traceparent=span.traceparent)
        log.info("job.claimed", waited_s=round(lease.waited_s, 3))
        context.held_leases.add(lease)
        with holding(context, lease) as watch:
            finish = _work(context, watch, work)
            job = context.persist(lambda session: _write_outcome(session, lease, finish))
            context.held_leases.discard(lease)
            if job is not None and job.available_at <= context.clock():
                ring(context.doorbell, job)
        if job is None:
            log.warning("job.lease_lost")
        else:
            span.set(state=job.state)
            log.info("job.left", state=job.state)
    return lease


def _write_outcome(session: Session, lease: Lease, finish: Finish) -> Job | None:
    """Calls ``finish``. Returns the job afterwards, or None if the lease was lost."""
    return session.get_one(Job, lease.job_id) if finish(session) else None


def _work(context: WorkerContext, watch: LeaseWatch, work: Work) -> Finish:
    lease = watch.lease
    try:
        return work(context, watch)
    except Cancelled:
        if watch.status is LeaseStatus.CANCEL_REQUESTED:
            return lambda session: finish_cancelled(session, lease, now=context.clock())
        return lambda session: hand_back(session, lease, now=context.clock())
    except InternalError as error:
        log.error("job.failed", error=str(error))
        if context.stopping.is_set():
            # A stop often signals all of the worker's processes, so a compiler or runner may have failed because of it.
            return lambda session: hand_back(session, lease, now=context.clock())
        return _failure(context, lease, error)
    except SQLAlchemyError as error:
        log.error("job.failed", error=str(error))
        return _failure(context, lease, error)
    except Exception as error:
        log.exception("job.crashed")
        return _failure(context, lease, error)
    except BaseException:
        # The process is exiting (SystemExit): another worker takes the job.
        context.persist(lambda session: hand_back(session, lease, now=context.clock()))
        raise


def _failure(context: WorkerContext, lease: Lease, error: Exception) -> Finish:
    retry_from = Stage.BUILD if isinstance(error, BuildAgainError) else None
    text = f"{type(error).__name__}: {error}"
    return lambda session: fail_job(
        session, lease, text, now=context.clock(), rules=context.rules, retry_from=retry_from
    )


def hand_back_held_leases(context: WorkerContext) -> None:
    """Hands back the held jobs although their work goes on; its outcome will find the lease lost."""
    for lease in tuple(context.held_leases):
        with contextlib.suppress(SQLAlchemyError), context.sessions.begin() as session:
            hand_back(session, lease, now=context.clock())


def held_job(session: Session, lease: Lease) -> Job:
    """Returns the lease's job. Raises Cancelled if the lease is no longer held."""
    job = session.get(Job, lease.job_id)
    if job is None or job.lease_token != lease.token:
        raise Cancelled
    return job
