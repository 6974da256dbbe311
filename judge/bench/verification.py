"""Looks at the outputs of calls that were opened: whether they are those that had been committed, and whether they are
right.

Nothing is looked at while calls count: checking loads the processor. What has been opened waits here, in memory that is
bounded, until there is time.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from threadpoolctl import threadpool_limits

from judge.bench.calls import CallMaker
from judge.bench.committed import CommittedArray, NotCommittedError
from judge.bench.schedule import PlannedCall
from judge.errors import Cancelled
from judge.native.library import Bytes, loaded
from judge.supervisor.layout import Array
from judge.supervisor.outcome import Outcome
from judge.verdict import Verdict

#: What may wait to be looked at, and what the checks may take at a time; no more than an eighth and a quarter of the
#: machine's memory.
_HELD_BYTES = 4 << 30
_WORKING_BYTES = 16 << 30
#: What a check takes for each byte of a call's arguments, where the pack looks at all of them at once.
_BYTES_A_BYTE = 4
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Opened:
    """A call with its outputs. ``digests`` are those that had been committed, ``pieces`` those of the outputs' pieces,
    as they came with the outputs: none where these were copied at once."""

    call: PlannedCall
    outputs: dict[str, Array]
    digests: tuple[bytes, ...] = ()
    pieces: dict[str, Bytes] = field(default_factory=dict)

    def committed(self, threads: int) -> Mapping[str, Array | CommittedArray]:
        """The outputs, compared with what had been committed as they are looked at."""
        if not self.digests:
            return self.outputs
        named = zip(self.outputs.items(), self.digests, strict=True)
        return {name: CommittedArray(output, digest, self.pieces[name], threads) for (name, output), digest in named}


class _OneThreadedProducts:
    """While any thread is in it, NumPy's matrix products take one thread each. The limit is the whole process's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._limits: threadpool_limits | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._within += 1
            if self._limits is None:
                self._limits = threadpool_limits(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._within -= 1
            if self._within == 0 and self._limits is not None:
                self._limits.restore_original_limits()
                self._limits = None


_PRODUCTS = _OneThreadedProducts()


class Verifier:
    """Holds opened calls of one case and checks them in threads."""

    def __init__(self, maker: CallMaker, cancelled: Callable[[], bool] = lambda: False) -> None:
        self._maker = maker
        self._cancelled = cancelled
        self._held: dict[tuple[int, int], Opened] = {}
        self._looks: list[Future[Outcome | None]] = []
        #: Calls that were looked at.
        self.checked = 0
        each = _BYTES_A_BYTE * (maker.input_bytes + maker.output_bytes)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self._held_bytes = min(_HELD_BYTES, memory // 8)
        self._processors = len(os.sched_getaffinity(0))
        self._at_a_time = max(1, min(self._processors, min(_WORKING_BYTES, memory // 4) // max(1, each)))

    def hold(self, place: tuple[int, int], opened: Opened) -> None:
        """To be looked at later, instead of what was held there: ``place`` names a process and a place of its own."""
        self._held[place] = opened

    @property
    def is_full(self) -> bool:
        """Whether nothing more should be added before the next ``check``."""
        return len(self._held) * self._maker.output_bytes >= self._held_bytes

    def begin(self) -> None:
        """Begins to look at all that waits; ``check`` tells what is found. What is held later takes no place of it."""
        held, self._held = self._held, {}
        if not held:
            return
        self.checked += len(held)
        at_a_time = min(self._at_a_time, len(held))
        # Processors are left over where there are few checks, or room for few. NumPy's many short steps on many threads
        # would wait for each other.
        threads = self._processors // at_a_time if loaded() is not None else 1
        pool = ThreadPoolExecutor(at_a_time, thread_name_prefix="verify")
        self._looks += [pool.submit(self._check_one, opened, threads) for opened in held.values()]
        # Its threads end with the last of them.
        pool.shutdown(wait=False)

    def check(self) -> Outcome | None:
        """Looks at all that waits and lets go of it: what is wrong with the first that is. Raises Cancelled."""
        self.begin()
        try:
            for look in self._looks:
                self._wait_for(look)
                if (wrong := look.result()) is not None:
                    return wrong
        finally:
            self.forget()
        return None

    def forget(self) -> None:
        """Lets go of all that waits. Returns when nothing is looked at any more."""
        looks, self._looks = self._looks, []
        self._held.clear()
        for look in looks:
            look.cancel()
        wait(looks)

    def _wait_for(self, look: Future[Outcome | None]) -> None:
        while wait([look], _POLL_S).not_done:
            if self._cancelled():
                raise Cancelled

    def _check_one(self, opened: Opened, threads: int) -> Outcome | None:
        call, pack = opened.call, self._maker.pack
        inputs = self._maker.inputs(call, threads)
        try:
            # Drawn now, after the outputs were committed: nothing could know where it would be looked at. Each look is
            # a thread; a product within one must not take all processors to itself.
            with _PRODUCTS:
                wrong = pack.spot_check(call.case, inputs, opened.committed(threads), secrets.randbits(62))
        except NotCommittedError:
            message = "the outputs of a timed call are not those that had been committed before it was opened"
            return Outcome(Verdict.SECURITY_VIOLATION, message)
        return None if wrong is None else Outcome(Verdict.WRONG_ANSWER, wrong.message, wrong)
