"""Measures how long the threads of a jail waited for a processor: time that no limit on them should count."""

from __future__ import annotations

import contextlib
from pathlib import Path

_PROC = Path("/proc")


def waits_s(root: int) -> dict[int, float]:
    """Returns, for each thread of a process and of its descendants, the seconds for which it had to wait so far.

    Empty where the kernel does not tell (no ``schedstat``): limits then count by the clock alone.
    """
    found: dict[int, float] = {}
    processes, seen = [root], {root}
    while processes:
        for task in _tasks(processes.pop()):
            with contextlib.suppress(OSError, ValueError, IndexError):
                found[int(task.name)] = int((task / "schedstat").read_text().split()[1]) * 1e-9
            with contextlib.suppress(OSError, ValueError):
                children = {int(child) for child in (task / "children").read_text().split()} - seen
                processes += children
                seen |= children
    return found


def longest_wait_s(before: dict[int, float], after: dict[int, float]) -> float:
    """Returns how long the thread that waited most had to wait between two readings.

    Threads wait at the same time, so that their waits do not add up.
    """
    return max((waited - before.get(thread, 0.0) for thread, waited in after.items()), default=0.0)


def _tasks(process: int) -> list[Path]:
    try:
        return list((_PROC / str(process) / "task").iterdir())
    except OSError:
        return []
