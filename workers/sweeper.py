"""The sweeper: ends the leases of workers that died, rings for what nobody picked up, throws old artifacts away.

Any number may run; one is enough, and while none runs nothing is lost, only late.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from sqlalchemy.exc import SQLAlchemyError

from store.artifacts import purge_artifacts
from store.doorbell import ring_queue
from store.sweeping import Expired, expire_leases, unheard_queues
from workers.context import WorkerContext

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep found."""

    expired: tuple[Expired, ...]
    rung: tuple[str, ...]
    purged: int


def sweep(context: WorkerContext) -> Swept:
    """One sweep. Raises SQLAlchemyError when the database cannot be reached."""
    now = context.clock()
    with context.sessions.begin() as session:
        expired = expire_leases(session, now=now, rules=context.rules)
    with context.sessions.begin() as session:
        queues = sorted(unheard_queues(session, now=now, after_s=context.settings.ring_again_s))
    with context.sessions.begin() as session:
        purged = purge_artifacts(session, now=now, keep_s=context.settings.artifact_keep_s)
    for one in expired:
        log.warning("lease.expired", job=one.job_id, owner=one.owner, state=one.state)
    for queue in queues:
        ring_queue(context.bell, queue)
    return Swept(tuple(expired), tuple(queues), purged)


def sweep_for_ever(context: WorkerContext) -> None:
    """Sweep until the process is told to stop, whatever happens to the database meanwhile."""
    log.info("sweeper.ready")
    while True:
        try:
            sweep(context)
        except SQLAlchemyError as error:
            log.warning("database.away", error=str(error))
        if context.stopping.wait(context.settings.sweep_s):
            return
