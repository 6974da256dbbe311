"""Measures how long the threads of a jail waited for a processor: time that no limit on them should count."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from judge.sandbox.threads import threads_of


def waits_s(root: int) -> dict[int, float]:
    """Returns, for each thread of a process and of its descendants, the seconds for which it had to wait so far.

    Empty where the kernel does not tell (no ``schedstat``): limits then count by the clock alone.
    """
    found: dict[int, float] = {}
    for thread in threads_of(root):
        with contextlib.suppress(OSError, ValueError, IndexError):
            found[int(thread.name)] = int((thread / "schedstat").read_text().split()[1]) * 1e-9
    return found


def longest_wait_s(before: dict[int, float], after: dict[int, float]) -> float:
    """Returns how long the thread that waited most had to wait between two readings.

    Threads wait at the same time, so that their waits do not add up.
    """
    return max((waited - before.get(thread, 0.0) for thread, waited in after.items()), default=0.0)


class FairClock:
    """Counts the seconds of a jail without those for which it waited for a processor. Ask it again and again.

    ``waits_s`` is what the function of that name returns for the jail. A thread's waits since the last time that the
    clock was asked are lost when the thread ends.
    """

    def __init__(self, waits_s: Callable[[], dict[int, float]], *, now: Callable[[], float] = time.monotonic) -> None:
        self._waits_s = waits_s
        self._now = now
        self._begun_s = now()
        self._waits: dict[int, float] = {}
        self._starved_s = 0.0

    @property
    def wall_s(self) -> float:
        """All seconds, waiting included."""
        return self._now() - self._begun_s

    def fair_s(self) -> float:
        """Returns the seconds so far without the waiting."""
        waits = self._waits_s()
        self._starved_s += longest_wait_s(self._waits, waits)
        self._waits = waits
        return max(0.0, self.wall_s - self._starved_s)
