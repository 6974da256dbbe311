"""What goes on while something else does: ends of processes, and looks at what they left.

Both load the processor and the GPU, and neither has to be waited for, as long as no call counts meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """Used by one thread; what it submits runs in others. ``close`` waits for all of it."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(thread_name_prefix="background")
        self._going_on: list[Future[Any]] = []
        self._put_off: list[Future[Any]] = []
        self._begun = threading.Event()

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Begun at once."""
        future = self._pool.submit(work)
        self._going_on.append(future)
        return future

    def put_off(self, work: Callable[[], T]) -> Future[T]:
        """Begun with the next ``begin``, or when all of it is waited for."""
        begun = self._begun

        def when_begun() -> T:
            begun.wait()
            return work()

        future = self._pool.submit(when_begun)
        self._put_off.append(future)
        return future

    def begin(self) -> None:
        """What was put off goes on from now."""
        self._going_on += self._put_off
        self._put_off.clear()
        self._begun.set()
        self._begun = threading.Event()

    def busy(self) -> bool:
        """Whether anything that was begun still goes on."""
        self._going_on = [future for future in self._going_on if not future.done()]
        return bool(self._going_on)

    def wait(self) -> list[BaseException]:
        """Until nothing goes on any more; what went wrong since the last time."""
        self.begin()
        over, self._going_on = self._going_on, []
        wait(over)
        return [error for future in over if (error := future.exception()) is not None]

    def close(self) -> None:
        """Idempotent."""
        self.begin()
        self._pool.shutdown()
