"""A worker's day: one job at a time, begun by a ring or, where rings are lost, by a look into the database.

Rings are answered in the main thread by Celery. The look is a second thread, and a lock keeps the two from working at
once; the thread takes only jobs whose bell was rung a while ago, so that it never competes for what a ring will bring.
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

from workers.attempt import abandon
from workers.context import WorkerContext

log = structlog.get_logger(__name__)


class WorkOne(Protocol):
    """Does the oldest job there is; False when there was none."""

    def __call__(self, *, rung_before: datetime | None = None) -> bool: ...


class Shift:
    """``leave`` ends the process at once, when a job will not stop in time."""

    def __init__(self, context: WorkerContext, work_one: WorkOne, *, leave: Callable[[int], object] = os._exit) -> None:
        self._context = context
        self._work_one = work_one
        self._leave = leave
        self._busy = threading.Lock()
        self._answering = False
        self._looker = threading.Thread(target=self._look_for_ever, name="look", daemon=True)

    def start_looking(self) -> None:
        """Start the thread that needs no rings."""
        self._looker.start()

    def rung(self) -> None:
        """Answer one ring. Ends the worker afterwards if it was told to stop meanwhile."""
        self._answering = True
        try:
            with self._busy:
                if not self._context.stopping.is_set():
                    self._work()
        finally:
            self._answering = False
        if self._context.stopping.is_set():
            raise WorkerShutdown(0)

    def look(self) -> None:
        """Do what seems to have been missed, unless the main thread is at work."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            patience = timedelta(seconds=self._context.settings.poll_s)
            while not self._context.stopping.is_set() and self._work(rung_before=self._context.clock() - patience):
                pass
        finally:
            self._busy.release()

    def stop(self) -> None:
        """Told to stop: a job in hand is stopped and handed back; the process ends within the grace, in any case. Runs
        in a signal handler of the main thread, and raises there what ends Celery when the main thread has no job."""
        first = not self._context.stopping.is_set()
        self._context.stopping.set()
        if first:
            threading.Thread(target=self._leave_in_time, name="leave", daemon=True).start()
        if first and not self._answering:
            raise WorkerShutdown(0)

    def end(self) -> None:
        """Wait, no longer than the grace, for a job that the looking thread has in hand."""
        if self._looker.is_alive():
            self._looker.join(self._context.settings.stop_grace_s)

    def _work(self, *, rung_before: datetime | None = None) -> bool:
        try:
            return self._work_one(rung_before=rung_before)
        except SQLAlchemyError as error:
            log.warning("database.away", error=str(error))
            return False

    def _look_for_ever(self) -> None:
        while not self._context.stopping.wait(self._context.settings.poll_s):
            self.look()

    def _leave_in_time(self) -> None:
        time.sleep(self._context.settings.stop_grace_s)
        # What does not stop dies with this process, as jails do.
        log.warning("worker.left_in_a_hurry")
        abandon(self._context)
        self._leave(0)
