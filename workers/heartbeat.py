"""Holds a lease while the worker works, and notices cancellation meanwhile.

The worker's lease keeper, a separate process, extends the lease; without one, as in tests, a thread does.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import structlog
from sqlalchemy.exc import SQLAlchemyError

from store.jobs import Lease, LeaseStatus, extend_lease, lease_status
from workers.context import WorkerContext
from workers.lease_keeper import STATUS_POLL_S

log = structlog.get_logger(__name__)


class LeaseWatch:
    """The latest known status of a lease, available without a database query."""

    def __init__(self, context: WorkerContext, lease: Lease) -> None:
        self._context = context
        self.lease = lease
        self.status = LeaseStatus.HELD

    def set_status(self, status: LeaseStatus) -> None:
        """Records the lease's status."""
        self.status = status

    def cancelled(self) -> bool:
        """Returns whether to stop working: the user cancelled, the lease is lost, or the process is stopping."""
        return self.status is not LeaseStatus.HELD or self._context.stopping.is_set()


@contextlib.contextmanager
def holding(context: WorkerContext, lease: Lease) -> Iterator[LeaseWatch]:
    """Extends the lease until the block ends.

    The extension also ends with this process, so that a killed worker loses its job.
    """
    watch = LeaseWatch(context, lease)
    if context.keeper is not None:
        with context.keeper.hold(lease, lambda _lease, status: watch.set_status(status)):
            yield watch
        return
    ended = threading.Event()
    thread = threading.Thread(target=_beat, args=(context, watch, ended), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        ended.set()
        thread.join()


def _beat(context: WorkerContext, watch: LeaseWatch, ended: threading.Event) -> None:
    heartbeat_s = context.settings.heartbeat_s
    extended_at_s = time.monotonic()
    while not ended.wait(min(STATUS_POLL_S, heartbeat_s)):
        try:
            if time.monotonic() - extended_at_s >= heartbeat_s:
                with context.sessions.begin() as session:
                    watch.status = extend_lease(session, watch.lease, now=context.clock(), rules=context.rules)
                extended_at_s = time.monotonic()
            else:
                with context.reads() as session:
                    watch.status = lease_status(session, watch.lease)
        except SQLAlchemyError as error:
            # Only the database can tell whether the lease is lost; ask again when it is reachable.
            log.warning("heartbeat.failed", job=watch.lease.job_id, error=str(error))
        if watch.status is LeaseStatus.LOST:
            return
