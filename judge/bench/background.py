"""Runs clean-up work in threads, and defers it while calls are timed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """Runs work in threads for one caller. ``close`` waits for all of it.

    Ending a process and checking its outputs load the processor and the GPU. Nobody has to wait for either, as long as
    no call counts meanwhile; ``defer`` and ``start_deferred`` keep the two apart.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(thread_name_prefix="background")
        self._running: list[Future[Any]] = []
        self._deferred: list[Future[Any]] = []
        self._released = threading.Event()

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Starts ``work`` at once."""
        future = self._pool.submit(work)
        self._running.append(future)
        return future

    def defer(self, work: Callable[[], T]) -> Future[T]:
        """Starts ``work`` at the next ``start_deferred``, ``wait`` or ``close``."""
        released = self._released

        def when_released() -> T:
            released.wait()
            return work()

        future = self._pool.submit(when_released)
        self._deferred.append(future)
        return future

    def start_deferred(self) -> None:
        """Starts all deferred work."""
        self._running += self._deferred
        self._deferred.clear()
        self._released.set()
        self._released = threading.Event()

    def busy(self) -> bool:
        """Returns whether any started work is still running."""
        self._running = [future for future in self._running if not future.done()]
        return bool(self._running)

    def wait(self) -> list[BaseException]:
        """Waits for all work, deferred work included, and returns the errors since the last call."""
        self.start_deferred()
        ended, self._running = self._running, []
        wait(ended)
        return [error for future in ended if (error := future.exception()) is not None]

    def close(self) -> None:
        """Waits for all work. Idempotent."""
        self.start_deferred()
        self._pool.shutdown()
