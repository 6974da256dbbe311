"""Shares a machine's processors between judgements on the emulator, in all processes that have one folder of locks.

Each judgement has one processor to itself, as a number, and takes further ones while they are free. So many judgements
at once work on few threads each, and a machine with a GPU keeps processors for its timing. Which processors a thread
runs on is the operating system's choice.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from judge.errors import Cancelled
from judge.settings import JudgeSettings

#: Kernels of most cases have too few blocks for more threads, and the rest of a judgement uses one.
MOST_THREADS = 8
#: The least number of shares, each of which lets one judgement run: parts of a judgement use no processor.
_FEWEST = 4
#: The part of the shares that only first threads take, so that one judgement does not keep out the others.
_ALONE = 4
#: The processors that the timing on one GPU keeps busy.
_OF_A_GPU = 2
_POLL_S = 0.02
_DEV = Path("/dev")


def emulator_threads(settings: JudgeSettings) -> int:
    """Returns on how many threads the emulator runs the blocks of a kernel, at most."""
    return settings.emulator_threads or min(MOST_THREADS, len(os.sched_getaffinity(0)))


def emulator_processors() -> int:
    """Returns how many processors all judgements on the emulator have together: the others are left to GPUs' timing.

    That is a quarter, and at least two for each GPU: one for what is timed, one for the thread that times it.
    """
    processors = len(os.sched_getaffinity(0))
    gpus = len(list(_DEV.glob("nvidia[0-9]*")))
    return max(_FEWEST, processors - max(processors // 4, _OF_A_GPU * gpus) if gpus else processors)


@contextlib.contextmanager
def emulator_share(settings: JudgeSettings, *, cancelled: Callable[[], bool] = lambda: False) -> Iterator[int]:
    """Waits for a share of the processors, and yields how many threads may work until the block ends.

    A process that dies gives back what it had. Raises Cancelled while it waits.
    """
    folder = settings.locks
    folder.mkdir(parents=True, exist_ok=True)
    shares = emulator_processors()
    alone = max(_FEWEST // 2, shares // _ALONE)
    with contextlib.ExitStack() as stack:
        while not any(_take(folder, number, stack) for number in range(shares)):
            if cancelled():
                raise Cancelled
            time.sleep(_POLL_S)
        threads = 1
        for number in range(alone, shares):
            if threads >= emulator_threads(settings):
                break
            threads += _take(folder, number, stack)
        yield threads


def _take(folder: Path, number: int, stack: contextlib.ExitStack) -> bool:
    """Takes a share if it is free, until the stack is closed. Returns whether it was."""
    fd = os.open(folder / f"emulator-{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return False
    stack.callback(os.close, fd)
    return True
