"""Keeps warm runners: the device is up and nothing is loaded, so that no submission waits for Python and a context.

Each runner serves one session and ends with it, like one started on demand; it was only started earlier. The pool's own
thread starts them and they die with it (a jail ends with the thread that launched it). Runners start together, one for
each four processors, not while a caller asks for quiet, and only if the machine has memory to spare. What else of the
device's shall be ready (``Beside``) starts under the same conditions.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from judge.settings import JudgeSettings
from judge.supervisor.launcher import Launcher
from judge.supervisor.runner_spec import RunnerSpec
from judge.supervisor.runner_start import REGION_BYTES, StartedRunner, start_request, start_runner
from records import dataclass

#: Must stay below an hour: older cgroups of jails are removed as stale (``sandbox.cgroup_hierarchy.remove_stale``).
MAX_AGE_S = 1800.0
#: Memory that must stay free for judging, beside the waiting runners.
_MEMORY_BYTES = 2 << 30
_TICK_S = 30.0
#: What a runner that comes up takes in part, so that starting several leaves room for what is judged meanwhile.
_PROCESSORS_EACH = 4
_BACKOFF_S = (5.0, 20.0, 60.0)

#: Starts a runner, given the bytes of its input and output regions.
Start = Callable[[int, int], StartedRunner]


class Beside(Protocol):
    """A process that is kept ready beside the runners. No method raises anything."""

    @property
    def missing(self) -> bool:
        """Whether one has to be started."""

    def start(self) -> None:
        """Starts one; it comes up in the background."""

    def wait(self) -> None:
        """Returns once the started one is up or failed."""

    def close(self) -> None:
        """Ends the one that nobody took."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    runner: StartedRunner
    input_bytes: int
    output_bytes: int
    since_s: float


class WarmPool:
    """Keeps ``count`` runners of one device ready, of which ``together`` start at a time.

    Errors go to ``report``; no method raises them.

    All methods may be called from any thread. Neither ``close`` nor the end of this process leaves a runner behind.
    """

    def __init__(
        self,
        start: Start,
        count: int,
        *,
        start_s: float,
        together: int = 1,
        report: Callable[[str], None] = lambda _: None,
        enough_memory: Callable[[], bool] | None = None,
        max_age_s: float = MAX_AGE_S,
        beside: Beside | None = None,
    ) -> None:
        self._start = start
        self._beside = beside
        self._count = count
        self._together = together
        self._start_s = start_s
        self._report = report
        self._enough_memory = enough_memory or enough_memory_free
        self._max_age_s = max_age_s
        self._changed = threading.Condition()
        self._waiting: list[_Waiting] = []
        # A session that needs more gets a runner of its own, and runners started from then on have that much.
        self._sizes = (REGION_BYTES, REGION_BYTES)
        self._starting = 0
        self._starts_beside = False
        self._quiet = 0
        self._stopped = False
        self._failures = 0
        self._keeper = threading.Thread(target=self._keep, name="warm-runners", daemon=True)
        self._keeper.start()

    def take(self, input_bytes: int, output_bytes: int) -> StartedRunner | None:
        """Returns a ready runner with regions of at least these sizes, which then belongs to the caller.

        Returns None if there is none and none is starting; the caller then has to start one.
        """
        with self._changed:
            if input_bytes > self._sizes[0] or output_bytes > self._sizes[1]:
                self._sizes = max(input_bytes, self._sizes[0]), max(output_bytes, self._sizes[1])
                self._discard()
                return None
            while True:
                while self._waiting:
                    one = self._waiting.pop(0)
                    self._changed.notify_all()
                    if self._usable(one) and one.input_bytes >= input_bytes and one.output_bytes >= output_bytes:
                        return one.runner
                    one.runner.process.close()
                if not self._starting:
                    return None
                self._changed.wait()

    @contextlib.contextmanager
    def quiet(self, *, wait: bool = True) -> Iterator[None]:
        """Starts no runner until the block ends. With ``wait``, enters once the runners being started are up."""
        with self._changed:
            self._quiet += 1
            while wait and (self._starting or self._starts_beside):
                self._changed.wait()
        try:
            yield
        finally:
            with self._changed:
                self._quiet -= 1
                self._changed.notify_all()

    def clear(self) -> None:
        """Replaces all waiting runners, because their device failed."""
        with self._changed:
            self._discard()
            if self._beside is not None:
                self._beside.close()
                self._changed.notify_all()

    def close(self) -> None:
        """Ends all waiting runners. Idempotent."""
        with self._changed:
            self._stopped = True
            self._discard()
        self._keeper.join()
        if self._beside is not None:
            self._beside.close()

    @property
    def ready(self) -> int:
        """The number of waiting runners."""
        with self._changed:
            return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether all that it keeps is up."""
        with self._changed:
            missing = self._beside is not None and self._beside.missing
            return len(self._waiting) >= self._count and not missing and not self._starts_beside

    def _discard(self) -> None:
        while self._waiting:
            self._waiting.pop().runner.process.close()
        self._changed.notify_all()

    def _usable(self, one: _Waiting) -> bool:
        return one.runner.process.alive and time.monotonic() - one.since_s < self._max_age_s

    def _keep(self) -> None:
        while (wanted := self._wait_for_need()) is not None:
            starts_beside = self._starts_beside
            if self._beside is not None and starts_beside:
                self._beside.start()
            sizes = self._sizes
            launched = [_try(self._start, *sizes) for _ in range(wanted)]
            problems = []
            for started, problem in launched:
                ready, problem = (None, problem) if started is None else _try(self._await, started)
                with self._changed:
                    self._starting -= 1
                    self._changed.notify_all()
                    if ready is None:
                        problems.append(problem)
                    elif self._stopped or sizes != self._sizes:
                        ready.process.close()
                    else:
                        self._waiting.append(_Waiting(ready, *sizes, time.monotonic()))
            if self._beside is not None and starts_beside:
                self._beside.wait()
                with self._changed:
                    self._starts_beside = False
                    self._changed.notify_all()
            if not problems:
                self._failures = 0
                continue
            self._failures += 1
            self._report(problems[0])
            pause_s = _BACKOFF_S[min(self._failures, len(_BACKOFF_S)) - 1]
            with self._changed:
                self._changed.wait_for(lambda: self._stopped, pause_s)
        with self._changed:
            self._discard()

    def _wait_for_need(self) -> int | None:
        """Returns how many runners have to be started now, perhaps 0 beside another process; None once it is closed."""
        with self._changed:
            while not self._stopped:
                if not self._quiet:
                    for old in [one for one in self._waiting if not self._usable(one)]:
                        self._waiting.remove(old)
                        old.runner.process.close()
                    missing = self._count - len(self._waiting)
                    lacks_beside = self._beside is not None and self._beside.missing
                    if (missing > 0 or lacks_beside) and self._enough_memory():
                        self._starting = min(missing, self._together)
                        self._starts_beside = lacks_beside
                        return self._starting
                self._changed.wait(_TICK_S)
        return None

    def _await(self, started: StartedRunner) -> StartedRunner:
        try:
            return started.wait(self._start_s)
        except BaseException:
            started.process.close()
            raise


def _try(make: Callable[..., StartedRunner], *given: Any) -> tuple[StartedRunner | None, str]:
    """Returns a runner and why there is none: if the pool's thread ended, the runners in use would end with it."""
    try:
        return make(*given), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def warm_pool(
    spec: RunnerSpec,
    settings: JudgeSettings,
    launcher: Launcher,
    count: int,
    *,
    report: Callable[[str], None],
    beside: Beside | None = None,
) -> WarmPool:
    """Starts ``count`` runners that wait for sessions of the same ``spec``, and what is kept beside them."""

    def start(input_bytes: int, output_bytes: int) -> StartedRunner:
        request = start_request(spec, settings, input_bytes, output_bytes)
        return start_runner(launcher, request, settings.run.output_bytes)

    together = max(1, len(os.sched_getaffinity(0)) // _PROCESSORS_EACH)
    start_s = settings.run.start_s + spec.start_s
    return WarmPool(start, count, start_s=start_s, together=together, report=report, beside=beside)


def enough_memory_free(meminfo: Path = Path("/proc/meminfo")) -> bool:
    """Returns whether the machine has memory to spare for a waiting runner."""
    try:
        lines = meminfo.read_text().splitlines()
        available = next(line for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return True
    return int(available.split()[1]) << 10 > _MEMORY_BYTES
