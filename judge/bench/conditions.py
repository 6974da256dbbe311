"""Controls and records what else happens on the machine while calls are timed: GPU state, processors.

``GpuConditions`` drops bursts that ran while the GPU was throttled. ``processor_for_timing`` reserves one processor for
the timed processes. ``HostLoad`` tells whether the machine's processors were all busy.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from judge.errors import InternalError
from judge.gpu.nvml import GpuState, GpuWatch
from judge.measurements import ObservedConditions

#: After this many dropped bursts of one submission, with a pause after each, the GPU is in no state to time anything.
MAX_DROPPED_BURSTS = 40
_PAUSE_S = 0.25
#: A reading taken after a burst also serves the next burst if that begins within so many seconds.
_FRESH_S = 0.1
#: Processors that were busy for a larger share of the time than this leave timed processes too little of their own.
_MOST_BUSY_SHARE = 0.9
#: How long processors are watched before one is reserved: some ticks of ``/proc/stat``, of 10 ms each.
_WATCH_S = 0.1
#: On a machine with fewer processors, the operating system places processes better than the judge would.
_MIN_PROCESSORS = 8


@dataclass
class GpuConditions:
    """Reads the GPU's state around each burst. Without NVML ``watch`` is None, and every burst counts."""

    watch: GpuWatch | None = None
    pause: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    dropped: int = 0
    #: The smallest and largest reading, by name.
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    _power_capped: bool | None = None
    _others: int = 0
    _last: GpuState | None = None
    _last_s: float = 0.0

    def before(self) -> GpuState:
        """Returns the state of the GPU before a burst: the last reading, unless that is too old."""
        if self._last is not None and self.clock() - self._last_s < _FRESH_S:
            return self._last
        return self.sample()

    def sample(self) -> GpuState:
        """Reads and records the state of the GPU."""
        if self.watch is None:
            return GpuState()
        state = self._last = self.watch.sample(brief=True)
        self._last_s = self.clock()
        for name in ("sm_mhz", "memory_mhz", "temperature_c", "power_w"):
            if (value := getattr(state, name)) is not None:
                low, high = self.ranges.get(name, (value, value))
                self.ranges[name] = (min(low, value), max(high, value))
        if state.power_capped is not None:
            self._power_capped = bool(self._power_capped) or state.power_capped
        self._others = max(self._others, len(state.other_pids))
        return state

    def accepts(self, before: GpuState, after: GpuState) -> bool:
        """Returns whether the burst between two readings counts; pauses if it does not.

        Raises InternalError after too many dropped bursts.
        """
        reasons = sorted({*before.throttled_by, *after.throttled_by})
        if not reasons:
            return True
        self.dropped += 1
        if self.dropped > MAX_DROPPED_BURSTS:
            heat = f" at {after.temperature_c} °C" if after.temperature_c is not None else ""
            raise InternalError(
                f"the GPU stays throttled ({', '.join(reasons)}{heat}): no time taken now would mean anything",
                "look after its cooling and power, and see gpujudge doctor",
            )
        self.pause(_PAUSE_S)
        self._last = None
        return False

    def summary(self) -> ObservedConditions:
        """Returns the ranges of the readings and the number of dropped bursts; nothing is known without NVML."""
        if self.watch is None:
            return ObservedConditions()
        return ObservedConditions(
            **self.ranges,
            power_capped=self._power_capped,
            other_processes=self._others,
            bursts_dropped=self.dropped,
        )


def _read_stat() -> str:
    return Path("/proc/stat").read_text()


class HostLoad:
    """How busy the machine's processors were since this was made, the judge's own work and other machines' included.

    ``read`` returns the contents of ``/proc/stat``. Its columns are the time of user and nice processes, of the kernel,
    idle, waiting for a disk, of both kinds of interrupts, and taken by the hypervisor; guests' is in the first two.
    """

    def __init__(self, read: Callable[[], str] = _read_stat) -> None:
        self._read = read
        #: By ``time.monotonic``.
        self.begun_at = time.monotonic()
        self._begun = self._ticks()

    def idle_shares(self) -> dict[str, float]:
        """Returns for which share of the time processors were idle: of all (``cpu``), and of each (``cpu3``)."""
        shares = {}
        for name, now in self._ticks().items():
            passed = [late - early for late, early in zip(now, self._begun.get(name, now), strict=True)]
            # Nothing is known of the first moment.
            shares[name] = sum(passed[3:5]) / sum(passed) if sum(passed) > 0 else 1.0
        return shares

    @property
    def busy_share(self) -> float:
        """For which share of the time all processors, on average, were busy."""
        return 1.0 - self.idle_shares().get("cpu", 1.0)

    @property
    def is_heavy(self) -> bool:
        return self.busy_share > _MOST_BUSY_SHARE

    def _ticks(self) -> dict[str, list[int]]:
        lines = [line.split() for line in self._read().splitlines() if line.startswith("cpu")]
        return {name: [int(word) for word in words[:8]] for name, *words in lines}


@contextlib.contextmanager
def processor_for_timing(folder: Path, *, load: HostLoad | None = None) -> Iterator[int | None]:
    """Reserves a processor that no other judgement with this ``folder`` uses, and yields its number.

    Yields None on a machine with few processors, or if all are taken. The timed processes and the null kernel's process
    take turns on this processor. How long a reply takes depends on where a process runs: close to the GPU and the
    supervisor or not, alone on a core or not. On a machine with two H200s the standard deviation was 8 µs, more than
    the bound by the clock allows; processes on one processor do not differ in this respect.

    Other containers' judges have other folders, and all that runs on the machine may keep a processor busy. So the one
    that was idle the longest since ``load`` was made, or since a moment ago, comes first. A ``load`` made just now is
    watched for a moment.
    """
    processors = list(os.sched_getaffinity(0))
    if len(processors) < _MIN_PROCESSORS:
        yield None
        return
    load = load or HostLoad()
    time.sleep(max(0.0, load.begun_at + _WATCH_S - time.monotonic()))
    random.shuffle(processors)
    idle = load.idle_shares()
    processors.sort(key=lambda processor: idle.get(f"cpu{processor}", 1.0), reverse=True)
    with contextlib.ExitStack() as stack:
        folder.mkdir(parents=True, exist_ok=True)
        for processor in processors:
            fd = os.open(_lock_of(folder, processor), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, fd)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield processor
                return
        yield None


def reserved_processors(folder: Path) -> frozenset[int]:
    """Returns the processors that judgements with this ``folder`` have reserved now, this process's own included."""
    found = set()
    for processor in os.sched_getaffinity(0):
        try:
            fd = os.open(_lock_of(folder, processor), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            found.add(processor)
        finally:
            os.close(fd)
    return frozenset(found)


def _lock_of(folder: Path, processor: int) -> Path:
    return folder / f"processor-{processor}.lock"
