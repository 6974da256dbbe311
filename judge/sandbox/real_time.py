"""Lets timed processes, and the thread that times them, run before everything else that wants their processors.

Without it a busy machine takes the processor from a process that waits for the GPU, for milliseconds at a time, and
that time looks like hidden work. The kernel permits it to root with CAP_SYS_NICE, and to others with RLIMIT_RTPRIO: 1
is enough. Round robin, so that two threads of a submission that wait for each other in a busy loop both go on.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from judge.sandbox.threads import threads_of

_PRIORITY = os.sched_param(1)


@contextlib.contextmanager
def real_time_thread() -> Iterator[bool]:
    """Schedules the calling thread in real time, but none that it starts; yields whether that is permitted."""
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, _PRIORITY)
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, policy, priority)


def schedule_in_real_time(root: int) -> bool:
    """Schedules a process and its descendants in real time, with what they start from now on.

    Returns whether that is permitted.
    """
    permitted = True
    for thread in threads_of(root):
        try:
            os.sched_setscheduler(int(thread.name), os.SCHED_RR, _PRIORITY)
        except ProcessLookupError:
            continue
        except OSError:
            permitted = False
    return permitted
