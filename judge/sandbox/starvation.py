"""Measures how long the threads of a jail waited for a processor: time that no limit on them should count."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import NamedTuple

from judge.sandbox.threads import threads_of


class ProcessorTime(NamedTuple):
    """The seconds for which a thread ran, and for which it was ready and had to wait for a processor."""

    ran_s: float
    waited_s: float


def processor_times(root: int) -> dict[int, ProcessorTime]:
    """Returns the times of each thread of a process and of its descendants so far.

    Empty where the kernel does not tell (no ``schedstat``): limits then count by the clock alone.
    """
    found: dict[int, ProcessorTime] = {}
    for thread in threads_of(root):
        with contextlib.suppress(OSError, ValueError, IndexError):
            ran, waited, *_ = (int(text) * 1e-9 for text in (thread / "schedstat").read_text().split())
            found[int(thread.name)] = ProcessorTime(ran, waited)
    return found


def starved_s(before: dict[int, ProcessorTime], after: dict[int, ProcessorTime], wall_s: float) -> float:
    """Returns by how much ``wall_s`` between two readings would have been less with a processor for each thread.

    Threads that wait at the same time lose that time once: the one that waited most tells how long. Threads that work
    one after the other (as those of a kernel do that wait for each other) lose it each: all that the clock shows beyond
    what they ran, if they were ready. The larger of the two counts, in favor of the process. Sleep is no waiting.
    """
    none = ProcessorTime(0.0, 0.0)
    ran, waited = [0.0], [0.0]
    for thread, time_of_it in after.items():
        earlier = before.get(thread, none)
        ran.append(time_of_it.ran_s - earlier.ran_s)
        waited.append(time_of_it.waited_s - earlier.waited_s)
    return max(*waited, min(sum(waited), wall_s - sum(ran)))


class FairClock:
    """Counts the seconds of a jail without those for which it waited for a processor. Ask it again and again.

    ``times`` returns ``processor_times`` of the jail. A thread's waits since the last time that the
    clock was asked are lost when the thread ends.
    """

    def __init__(
        self, times: Callable[[], dict[int, ProcessorTime]], *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._times = times
        self._now = now
        self._begun_s = self._asked_s = now()
        self._last: dict[int, ProcessorTime] = {}
        self._starved_s = 0.0

    @property
    def wall_s(self) -> float:
        """All seconds, waiting included."""
        return self._now() - self._begun_s

    def fair_s(self) -> float:
        """Returns the seconds so far without the waiting."""
        times, now_s = self._times(), self._now()
        self._starved_s += starved_s(self._last, times, now_s - self._asked_s)
        self._last, self._asked_s = times, now_s
        return max(0.0, now_s - self._begun_s - self._starved_s)
