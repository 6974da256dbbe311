"""Waits for changes of files with inotify, in place of polling."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
from enum import IntFlag
from pathlib import Path


class Change(IntFlag):
    """The event masks of <sys/inotify.h> that this project uses."""

    MODIFY = 0x02
    MOVED_TO = 0x80


class FileWatch:
    """Watches a file, or the files of a folder. Without inotify, each wait lasts its whole timeout."""

    def __init__(self, path: Path | None, change: Change) -> None:
        """With ``path`` None, watches nothing, and each wait lasts its whole timeout."""
        libc = ctypes.CDLL(None)
        self._file: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll = select.poll()
        if self._file >= 0 and path is not None:
            libc.inotify_add_watch(self._file, os.fsencode(path), change.value)
            self._poll.register(self._file, select.POLLIN)

    def wait(self, seconds: float) -> None:
        """Waits for a change since the previous wait, for at most ``seconds``."""
        if self._poll.poll(1000 * seconds):
            with contextlib.suppress(BlockingIOError):
                while os.read(self._file, 1 << 16):
                    pass

    def close(self) -> None:
        """Closes the inotify descriptor. Idempotent."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
