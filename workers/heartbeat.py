"""The thread that holds a lease while the main thread works, and hears of cancellation meanwhile."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import structlog
from sqlalchemy.exc import SQLAlchemyError

from store.jobs import Lease, Standing, extend_lease, lease_standing
from workers.context import WorkerContext

log = structlog.get_logger(__name__)

#: How often the thread asks whether the user has cancelled.
LISTEN_S = 0.5


class Watch:
    """What the worker may ask about its lease at any time, without touching the database."""

    def __init__(self, context: WorkerContext, lease: Lease) -> None:
        self._context = context
        self.lease = lease
        self.standing = Standing.HELD

    def cancelled(self) -> bool:
        """Whether to stop working: the user wants it, the lease is lost, or the process is stopping."""
        return self.standing is not Standing.HELD or self._context.stopping.is_set()


@contextlib.contextmanager
def holding(context: WorkerContext, lease: Lease) -> Iterator[Watch]:
    """Extend the lease until the block ends. The thread dies with the process: a killed worker loses the job."""
    watch = Watch(context, lease)
    ended = threading.Event()
    thread = threading.Thread(target=_beat, args=(context, watch, ended), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        ended.set()
        thread.join()


def _beat(context: WorkerContext, watch: Watch, ended: threading.Event) -> None:
    heartbeat_s = context.settings.heartbeat_s
    extended_at_s = time.monotonic()
    while not ended.wait(min(LISTEN_S, heartbeat_s)):
        try:
            if time.monotonic() - extended_at_s >= heartbeat_s:
                with context.sessions.begin() as session:
                    watch.standing = extend_lease(session, watch.lease, now=context.clock(), rules=context.rules)
                extended_at_s = time.monotonic()
            else:
                with context.reads() as session:
                    watch.standing = lease_standing(session, watch.lease)
        except SQLAlchemyError as error:
            # Whether the lease is lost is for the database to say, when it is back: the token decides.
            log.warning("heartbeat.failed", job=watch.lease.job_id, error=str(error))
        if watch.standing is Standing.LOST:
            return
