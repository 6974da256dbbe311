"""Lets timed processes, and the thread that times them, run before everything else that wants their processors.

Without it a busy machine takes the processor from a process that waits for the GPU, for milliseconds at a time, and
that time looks like hidden work. The kernel permits it to root with CAP_SYS_NICE, and to others with RLIMIT_RTPRIO: 1
is enough. Round robin, so that two threads of a submission that wait for each other in a busy loop both go on.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator

from judge.sandbox.threads import threads_of

_PRIORITY = os.sched_param(1)


@contextlib.contextmanager
def real_time_thread(*, away_from: Collection[int]) -> Iterator[bool]:
    """Schedules the calling thread in real time, on any processors but these; yields whether that is permitted.

    A thread in real time that waits in a busy loop would keep a process that is bound to its processor from running.
    What the thread starts stays away from there too, and is scheduled as usual.
    """
    processors, policy, priority = os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0)
    with contextlib.ExitStack() as stack:
        # A thread that has only those processors keeps them.
        if others := processors.difference(away_from):
            os.sched_setaffinity(0, others)
            stack.callback(os.sched_setaffinity, 0, processors)
        try:
            os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, _PRIORITY)
        except OSError:
            yield False
            return
        stack.callback(os.sched_setscheduler, 0, policy, priority)
        yield True


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
