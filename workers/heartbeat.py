"""Holds a lease while the worker works, and notices when it is canceled or lost."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from store.queue.jobs import Lease, LeaseStatus
from workers.context import WorkerContext


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
    """Has the worker's lease keeper extend the lease until the block ends. Without a keeper nothing extends it.

    The extension also ends with this process, so that a killed worker loses its job.
    """
    watch = LeaseWatch(context, lease)
    keeper = context.keeper
    with keeper.hold(lease, lambda _lease, status: watch.set_status(status)) if keeper else contextlib.nullcontext():
        yield watch
