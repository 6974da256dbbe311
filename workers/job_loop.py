"""Runs a worker's jobs, one at a time: on a ring or, where rings are lost, by polling the database.

Celery answers rings in the main thread. A second thread polls, and a lock keeps the two from working at once. The
polling thread takes only jobs that were rung some time ago, so it does not compete for jobs whose ring is under way.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

import structlog
from celery.exceptions import WorkerShutdown
from sqlalchemy.exc import SQLAlchemyError

from workers.attempt import hand_back_held_leases
from workers.context import WorkerContext
from workers.sweeper import sweep_if_overdue

log = structlog.get_logger(__name__)


class WorkOne(Protocol):
    """Runs the oldest waiting job. Returns False if none waits."""

    def __call__(self, *, rung_before: datetime | None = None) -> bool: ...


class JobLoop:
    """Answers rings and polls for missed jobs.

    ``exit_process`` is called with the exit code if a job does not stop in time, ``between`` before each poll.
    """

    def __init__(
        self,
        context: WorkerContext,
        work_one: WorkOne,
        *,
        exit_process: Callable[[int], object] = os._exit,
        between: Callable[[], object] = lambda: None,
    ) -> None:
        self._context = context
        self._work_one = work_one
        self._exit_process = exit_process
        self._between = between
        self._busy = threading.Lock()
        self._answering = False
        self._poller = threading.Thread(target=self._poll_for_ever, name="poll", daemon=True)

    def start_polling(self) -> None:
        """Starts the polling thread."""
        self._poller.start()

    def on_ring(self) -> None:
        """Runs one job. Raises WorkerShutdown if ``stop`` was called meanwhile."""
        self._answering = True
        try:
            with self._busy:
                if not self._context.stopping.is_set():
                    self._work()
        finally:
            self._answering = False
        if self._context.stopping.is_set():
            raise WorkerShutdown(0)

    def poll(self) -> None:
        """Runs all jobs whose rings seem lost, unless the main thread is running a job."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            patience = timedelta(seconds=self._context.settings.poll_s)
            while not self._context.stopping.is_set() and self._work(rung_before=self._context.clock() - patience):
                pass
        finally:
            self._busy.release()

    def stop(self) -> None:
        """Stops the running job, hands it back and ends the process within ``stop_grace_s``.

        A signal handler calls it in the main thread. Raises WorkerShutdown if that thread runs no job.
        """
        first = not self._context.stopping.is_set()
        self._context.stopping.set()
        if first:
            threading.Thread(target=self._exit_after_grace, name="exit", daemon=True).start()
        if first and not self._answering:
            raise WorkerShutdown(0)

    def end(self) -> None:
        """Waits at most ``stop_grace_s`` for the polling thread's job."""
        if self._poller.is_alive():
            self._poller.join(self._context.settings.stop_grace_s)

    def _work(self, *, rung_before: datetime | None = None) -> bool:
        try:
            return self._work_one(rung_before=rung_before)
        except SQLAlchemyError as error:
            log.warning("database.away", error=str(error))
            return False

    def _poll_for_ever(self) -> None:
        while not self._context.stopping.wait(self._context.settings.poll_s):
            try:
                self._between()
                sweep_if_overdue(self._context)
            except SQLAlchemyError as error:
                log.warning("database.away", error=str(error))
            self.poll()

    def _exit_after_grace(self) -> None:
        time.sleep(self._context.settings.stop_grace_s)
        # Jails and other children that have not stopped die with this process.
        log.warning("worker.stop_timed_out")
        hand_back_held_leases(self._context)
        self._exit_process(0)
