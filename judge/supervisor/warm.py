"""Runners that wait: device up, nothing loaded yet, so that a submission need not wait for Python and a context.

Each serves one session and is gone with it, exactly as one that was started for it: being started early is all that is
different. They are started by a thread of this pool, with which they die (a jail ends with the thread that launched
it), one at a time, not while somebody asks for quiet, and only where the machine has memory to spare.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.supervisor.session import StartedRunner

#: The shared memory of a waiting runner. It is sparse: pages exist once somebody writes them. A session that needs more
#: gets a runner of its own, and those that are started from then on have as much.
_REGION_BYTES = 256 << 20
#: Groups of jails that are older than an hour are taken for left-overs (``sandbox.cgroup.remove_stale``).
MAX_AGE_S = 1800.0
#: What has to be free beside the runners that wait, for the work itself.
_MEMORY_BYTES = 2 << 30
_TICK_S = 30.0
_BACKOFF_S = (5.0, 20.0, 60.0)

#: Starts one with so many bytes of input and of output region.
Start = Callable[[int, int], StartedRunner]


@dataclass(frozen=True, slots=True)
class _Waiting:
    runner: StartedRunner
    input_bytes: int
    output_bytes: int
    since_s: float


class WarmRunners:
    """Keeps ``count`` runners of one device ready. ``report`` is told what goes wrong; nothing here raises it.

    All methods may be called by any thread. ``close`` leaves no process behind, and so does the end of this process.
    """

    def __init__(
        self, start: Start, count: int, *, start_s: float, report: Callable[[str], None] = lambda _: None,
        enough_memory: Callable[[], bool] | None = None, max_age_s: float = MAX_AGE_S,
    ) -> None:  # fmt: skip
        self._start = start
        self._count = count
        self._start_s = start_s
        self._report = report
        self._enough_memory = enough_memory or enough_memory_free
        self._max_age_s = max_age_s
        self._changed = threading.Condition()
        self._waiting: list[_Waiting] = []
        self._sizes = (_REGION_BYTES, _REGION_BYTES)
        self._coming = False
        self._quiet = 0
        self._stopped = False
        self._failures = 0
        self._keeper = threading.Thread(target=self._keep, name="warm-runners", daemon=True)
        self._keeper.start()

    def take(self, input_bytes: int, output_bytes: int) -> StartedRunner | None:
        """One that is ready, with regions of at least these sizes; it is the caller's then. None when there is none and
        none is about to be: starting one is up to the caller."""
        with self._changed:
            if input_bytes > self._sizes[0] or output_bytes > self._sizes[1]:
                self._sizes = max(input_bytes, self._sizes[0]), max(output_bytes, self._sizes[1])
                self._discard()
                return None
            while True:
                while self._waiting:
                    one = self._waiting.pop(0)
                    self._changed.notify_all()
                    if self._good(one) and one.input_bytes >= input_bytes and one.output_bytes >= output_bytes:
                        return one.runner
                    one.runner.process.close()
                if not self._coming:
                    return None
                self._changed.wait()

    @contextlib.contextmanager
    def quiet(self, *, wait: bool = True) -> Iterator[None]:
        """Until the block ends none is started; with ``wait``, one that is being started is up first."""
        with self._changed:
            self._quiet += 1
            while wait and self._coming:
                self._changed.wait()
        try:
            yield
        finally:
            with self._changed:
                self._quiet -= 1
                self._changed.notify_all()

    def clear(self) -> None:
        """Ends those that wait: their device went wrong. New ones are started."""
        with self._changed:
            self._discard()

    def close(self) -> None:
        """Idempotent."""
        with self._changed:
            self._stopped = True
            self._discard()
        self._keeper.join()

    @property
    def ready(self) -> int:
        """How many wait."""
        with self._changed:
            return len(self._waiting)

    def _discard(self) -> None:
        while self._waiting:
            self._waiting.pop().runner.process.close()
        self._changed.notify_all()

    def _good(self, one: _Waiting) -> bool:
        return one.runner.process.alive and time.monotonic() - one.since_s < self._max_age_s

    def _keep(self) -> None:
        while self._wait_for_need():
            made, problem = self._make(*self._sizes)
            with self._changed:
                self._coming = False
                self._changed.notify_all()
                if made is not None:
                    self._failures = 0
                    if self._stopped or (made.input_bytes, made.output_bytes) != self._sizes:
                        made.runner.process.close()
                    else:
                        self._waiting.append(made)
                    continue
                self._failures += 1
                pause_s = _BACKOFF_S[min(self._failures, len(_BACKOFF_S)) - 1]
            self._report(problem)
            with self._changed:
                self._changed.wait_for(lambda: self._stopped, pause_s)
        with self._changed:
            self._discard()

    def _wait_for_need(self) -> bool:
        """Returns when one is to be started (True) or everything ends."""
        with self._changed:
            while not self._stopped:
                if not self._quiet:
                    for old in [one for one in self._waiting if not self._good(one)]:
                        self._waiting.remove(old)
                        old.runner.process.close()
                    if len(self._waiting) < self._count and self._enough_memory():
                        self._coming = True
                        return True
                self._changed.wait(_TICK_S)
        return False

    def _make(self, input_bytes: int, output_bytes: int) -> tuple[_Waiting | None, str]:
        try:
            started = self._start(input_bytes, output_bytes)
            try:
                ready = started.wait(self._start_s)
            except BaseException:
                started.process.close()
                raise
        except Exception as error:
            # Whatever it is: with this thread would go the runners that serve.
            return None, f"{type(error).__name__}: {error}"
        return _Waiting(ready, input_bytes, output_bytes, time.monotonic()), ""


def enough_memory_free(meminfo: Path = Path("/proc/meminfo")) -> bool:
    """Whether the machine can spare what a waiting runner takes."""
    try:
        lines = meminfo.read_text().splitlines()
        available = next(line for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return True
    return int(available.split()[1]) << 10 > _MEMORY_BYTES
