"""Does small work after the response, one piece after another, so that its time tells the visitor nothing.

What has not begun when the process ends is lost: use it only for what people can ask for again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import structlog

log = structlog.get_logger(__name__)

#: More waiting work is refused: somebody asks faster than a mail server answers.
MOST_WAITING = 500


class Background:
    """A thread, started with its first work."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")
        self._waiting = threading.BoundedSemaphore(MOST_WAITING)

    def do(self, name: str, work: Callable[[], None]) -> None:
        """Does ``work`` later. Logs its failure, and that it was refused, under ``name``."""
        if not self._waiting.acquire(blocking=False):
            log.error("background work refused", name=name)
            return
        self._thread.submit(self._run, name, work)

    def wait(self) -> None:
        """Returns when everything that waits now is done."""
        self._thread.submit(lambda: None).result()

    def _run(self, name: str, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:
            log.exception("background work failed", name=name)
        finally:
            self._waiting.release()
