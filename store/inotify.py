"""What the kernel tells of files, for those who would otherwise look again and again (inotify)."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
from enum import IntFlag
from pathlib import Path


class Change(IntFlag):
    """From <sys/inotify.h>."""

    MODIFY = 0x02
    MOVED_TO = 0x80


class FileWatch:
    """Changes of a file, or of a folder's files. Where the kernel tells nothing, each wait is as long as it may be."""

    def __init__(self, path: Path | None, change: Change) -> None:
        """Without a path there is nothing to tell of."""
        libc = ctypes.CDLL(None)
        self._file: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll = select.poll()
        if self._file >= 0 and path is not None:
            libc.inotify_add_watch(self._file, os.fsencode(path), change.value)
            self._poll.register(self._file, select.POLLIN)

    def wait(self, seconds: float) -> None:
        """Until there has been a change since the last wait, or ``seconds`` are over."""
        if self._poll.poll(1000 * seconds):
            with contextlib.suppress(BlockingIOError):
                while os.read(self._file, 1 << 16):
                    pass

    def close(self) -> None:
        """Idempotent."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
