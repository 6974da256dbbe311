"""Sweeps up what the workers leave behind.

A sweep ends the leases of lost workers, rings again for unclaimed jobs, asks for the audits of ended contests, deletes
old artifacts and history.

One sweeper is enough, but any number may run. While none runs, the workers sweep.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from sqlalchemy.exc import SQLAlchemyError

from judge.compile.cache import remove_half_written
from judge.compile.toolchain import remove_scratch
from judge.sandbox.cgroup_hierarchy import find_hierarchy, remove_stale
from logs.traces import trace_id_of
from store.assemblies import purge_assemblies
from store.boards.rechecks import purge_rechecks
from store.draft_assemblies import purge_draft_assemblies
from store.operation.retention import purge_history
from store.operation.webhooks import record_moments
from store.profiles import purge_profiles
from store.queue.artifacts import purge_artifacts
from store.queue.doorbell import ring_queue
from store.queue.shared_builds import purge_builds
from store.queue.sweeping import Expired, claim_overdue_sweep, expire_leases, queues_to_ring_again, record_sweep
from store.teaching.contest_audits import request_contest_audits
from workers.context import WorkerContext
from workers.lti import start_exchange
from workers.webhooks import start_sending

log = structlog.get_logger(__name__)

#: Workers sweep when no sweep has begun for this many sweep intervals.
_OVERDUE_SWEEPS = 4


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The results of one sweep. ``cgroups`` counts removed cgroups of jails whose owner has died.

    ``forgotten`` counts ended submissions whose jobs and events were deleted; the next sweep looks at the jobs after
    ``history_after``.
    """

    expired: tuple[Expired, ...]
    rung: tuple[str, ...]
    purged: int
    cgroups: int = 0
    forgotten: int = 0
    history_after: int = 0


def sweep(context: WorkerContext, history_after: int = 0) -> SweepResult:
    """Sweeps once; of the history, the jobs after ``history_after``. Raises SQLAlchemyError if the database is away."""
    now = context.clock()
    cgroups = remove_stale(find_hierarchy())
    remove_half_written(context.settings.data_dir)
    remove_scratch()
    with context.sessions.begin() as session:
        record_sweep(session, owner=context.owner, now=now)
        expired = expire_leases(session, now=now, rules=context.rules)
    with context.sessions.begin() as session:
        queues = sorted(queues_to_ring_again(session, now=now, after_s=context.settings.ring_again_s))
    with context.sessions.begin() as session:
        settled = request_contest_audits(session, now=now, max_failures=context.rules.max_failures)
    with context.sessions.begin() as session:
        record_moments(session, now=now)
    with context.sessions.begin() as session:
        purged = purge_artifacts(session, now=now, keep_s=context.settings.artifact_keep_s)
    with context.sessions.begin() as session:
        purge_builds(session, now=now, keep_s=context.settings.artifact_keep_s)
    with context.sessions.begin() as session:
        purge_assemblies(session, now=now, keep_s=context.settings.artifact_keep_s)
        purge_draft_assemblies(session, now=now, keep_s=context.settings.artifact_keep_s)
    with context.sessions.begin() as session:
        purge_profiles(session, now=now)
        purge_rechecks(session, now=now, keep_s=context.settings.artifact_keep_s)
    with context.sessions.begin() as session:
        history = purge_history(session, now=now, keep_s=context.settings.history_keep_s, after=history_after)
    for one in expired:
        trace = trace_id_of(one.traceparent)
        log.warning("lease.expired", trace=trace, job=one.job_id, owner=one.owner, state=one.state)
    for queue in queues:
        ring_queue(context.doorbell, queue)
    for contest in settled:
        log.info("contest.settled", contest=contest)
    if cgroups:
        log.warning("jails.removed", groups=cgroups)
    return SweepResult(tuple(expired), tuple(queues), purged, cgroups, history.forgotten, history.after)


def sweep_if_overdue(context: WorkerContext) -> bool:
    """Sweeps if no process has done so for too long. Returns whether it swept. Raises SQLAlchemyError."""
    with context.sessions.begin() as session:
        after_s = _OVERDUE_SWEEPS * context.settings.sweep_s
        due = claim_overdue_sweep(session, owner=context.owner, now=context.clock(), after_s=after_s)
    if due:
        log.warning("sweeper.absent", after_s=after_s)
        sweep(context)
    return due


def sweep_for_ever(context: WorkerContext) -> None:
    """Sweeps, sends contests' messages and talks to learning platforms until stopped. Logs database errors."""
    log.info("sweeper.ready")
    start_sending(context)
    start_exchange(context)
    history_after = 0
    while True:
        try:
            history_after = sweep(context, history_after).history_after
        except SQLAlchemyError as error:
            log.warning("database.away", error=str(error))
        if context.stopping.wait(context.settings.sweep_s):
            return
