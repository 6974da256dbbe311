"""Lets one job at a time use a GPU, or several that time nothing, across all processes that share a folder of locks."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from judge.errors import Cancelled
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

_POLL_S = 0.02


@contextlib.contextmanager
def device_lock(
    device: DeviceInfo, settings: JudgeSettings, *, shared: bool = False, cancelled: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Holds the GPU's lock, which a process releases when it dies. Raises Cancelled while it waits.

    Those who hold it ``shared`` may be several. They pass the gate before they get it, and whoever wants the GPU alone
    keeps the gate while it waits: so they cannot keep it out by taking turns.
    """
    name = str(device.details.get("uuid_hash") or device.details.get("ordinal", 0))
    folder = settings.locks
    folder.mkdir(parents=True, exist_ok=True)
    gate, lock = (_open(folder / f"gpu-{name}.{suffix}") for suffix in ("gate", "lock"))
    try:
        _take(gate, fcntl.LOCK_EX, cancelled)
        _take(lock, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, cancelled)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield
    finally:
        os.close(lock)
        os.close(gate)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _take(fd: int, kind: int, cancelled: Callable[[], bool]) -> None:
    while True:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if cancelled():
                raise Cancelled from None
            time.sleep(_POLL_S)
