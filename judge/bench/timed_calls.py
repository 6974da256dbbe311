"""Keeps checks away from timed calls, across all processes of a machine that share a folder of locks.

Who times shares two locks; a check takes the second one for itself. The first says that somebody times or wants to: a
check that runs ends at once, and none begins. A process that dies releases its locks.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from judge.errors import Cancelled

_WANTED, _TIMING = "timing-wanted.lock", "timing.lock"
_POLL_S = 0.02


@contextlib.contextmanager
def timed_calls(folder: Path, *, cancelled: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Ends the checks that run on this machine, and lets none begin until the block ends.

    ``folder`` has the locks. Raises Cancelled while it waits for a check to end.
    """
    with _opened(folder, _WANTED) as wanted, _opened(folder, _TIMING) as timing:
        fcntl.flock(wanted, fcntl.LOCK_SH)  # a check holds it for an instant only
        _wait(lambda: _take(timing, fcntl.LOCK_SH), cancelled)
        yield


@contextlib.contextmanager
def beside_no_timed_call(folder: Path, *, cancelled: Callable[[], bool]) -> Iterator[Callable[[], bool]]:
    """Waits until nobody times, and yields a function that says whether somebody wants to: then the block ends early.

    ``folder`` has the locks. One check runs at a time. Raises Cancelled while it waits.
    """
    with _opened(folder, _WANTED) as wanted, _opened(folder, _TIMING) as timing:

        def is_wanted() -> bool:
            if not _take(wanted, fcntl.LOCK_EX):
                return True
            fcntl.flock(wanted, fcntl.LOCK_UN)
            return False

        _wait(lambda: not is_wanted() and _take(timing, fcntl.LOCK_EX), cancelled)
        yield is_wanted


@contextlib.contextmanager
def _opened(folder: Path, name: str) -> Iterator[int]:
    folder.mkdir(parents=True, exist_ok=True)
    fd = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


def _take(fd: int, how: int) -> bool:
    """Takes a lock if that is possible at once. Returns whether it was."""
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(done: Callable[[], bool], cancelled: Callable[[], bool]) -> None:
    while not done():
        if cancelled():
            raise Cancelled
        time.sleep(_POLL_S)
