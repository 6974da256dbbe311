"""A processor for one judgement: the processes that are timed, and the empty one beside them, take turns on it.

How long an answer takes depends on where a process runs, near the GPU and the supervisor or far from them, alone on a
core or not: on a machine with two H200s by 8 µs (standard deviation), more than the bound by the clock leaves open.
Processes that run at the same place differ by nothing of that.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
from collections.abc import Iterator
from pathlib import Path

#: With fewer the system had better choose for itself.
_LEAST_PROCESSORS = 8


@contextlib.contextmanager
def processor_for_timing(folder: Path) -> Iterator[int | None]:
    """The number of one that no other judgement with this ``folder`` has; None where there are few or all are taken."""
    processors = list(os.sched_getaffinity(0))
    random.shuffle(processors)
    with contextlib.ExitStack() as stack:
        folder.mkdir(parents=True, exist_ok=True)
        for processor in processors if len(processors) >= _LEAST_PROCESSORS else ():
            fd = os.open(folder / f"processor-{processor}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, fd)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield processor
                return
        yield None
