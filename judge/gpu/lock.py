"""Lets one job at a time use a GPU, across all processes of a machine that share a folder of locks."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator

from judge.errors import Cancelled
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

_POLL_S = 0.02


@contextlib.contextmanager
def device_lock(
    device: DeviceInfo, settings: JudgeSettings, *, cancelled: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Holds the GPU's lock, which a process releases when it dies. Raises Cancelled while it waits."""
    name = str(device.details.get("uuid_hash") or device.details.get("ordinal", 0))
    folder = settings.locks
    folder.mkdir(parents=True, exist_ok=True)
    fd = os.open(folder / f"gpu-{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if cancelled():
                    raise Cancelled from None
                time.sleep(_POLL_S)
        yield
    finally:
        os.close(fd)
