"""Checks the outputs of opened calls: that they are the committed ones, and that they are right.

A call is committed when the runner sends the digests of its outputs, and opened when the supervisor then asks for the
outputs themselves. Nothing is checked while calls count, because checking loads the processor. Opened calls wait in
memory, whose size is bounded, until there is time.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from judge.bench.oracle.oracle import Oracle
from judge.bench.timing.call_maker import CallMaker
from judge.bench.timing.schedule import PlannedCall
from judge.errors import Cancelled
from judge.native.library import Bytes, loaded
from judge.packs.collection.pool import SecretPool
from judge.packs.data.committed_array import CommittedArray, NotCommittedError
from judge.packs.data.lazy_array import Array
from judge.packs.data.storage import values_of
from judge.packs.isolation.calls import product_threads
from judge.packs.isolation.shared_array import SharedRooms
from judge.packs.judging import spot_check
from judge.packs.pack import Pack
from judge.supervisor.verdict_rules import Outcome
from judge.verdict import Verdict

#: The memory for waiting calls and for the checks that run at a time; at most an eighth and a quarter of the machine's.
_WAITING_BYTES = 4 << 30
_WORKING_BYTES = 16 << 30
#: The working memory of a check per byte of a call's arguments, for packs that check all of them at once.
_BYTES_A_BYTE = 4
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class OpenedCall:
    """A call with its outputs.

    ``digests`` are the committed ones and ``pieces`` the digests of the outputs' pieces, as they came with the outputs;
    both are empty if the outputs were copied at once. ``pool`` is what the inputs were mixed with.
    """

    call: PlannedCall
    outputs: dict[str, Array]
    digests: tuple[bytes, ...] = ()
    pieces: dict[str, Bytes] = field(default_factory=dict)
    pool: SecretPool | None = None

    def committed(self, pack: Pack, threads: int) -> Mapping[str, Array | CommittedArray]:
        """Returns the outputs, which compare themselves with what was committed as they are read."""
        elements = {output.name: output.element for output in pack.outputs}
        if not self.digests:
            return {name: values_of(elements[name], output) for name, output in self.outputs.items()}
        named = zip(self.outputs.items(), self.digests, strict=True)
        return {
            name: CommittedArray(output, elements[name], digest, self.pieces[name], threads)
            for (name, output), digest in named
        }


class Verifier:
    """Collects the opened calls of one case and checks them in threads.

    Where the ``oracle`` agrees with a call's outputs, all of them were compared on the GPU. Of any other call, parts
    are compared here.
    """

    def __init__(
        self,
        maker: CallMaker,
        cancelled: Callable[[], bool] = lambda: False,
        *,
        oracle: Oracle | None = None,
        rooms: SharedRooms | None = None,
    ) -> None:
        self._maker = maker
        self._oracle = oracle
        #: Where the outputs of opened calls lie.
        self.rooms = rooms or SharedRooms()
        self._cancelled = cancelled
        self._waiting: dict[tuple[int, int], OpenedCall] = {}
        self._checks: list[Future[Outcome | None]] = []
        #: How many calls were checked.
        self.checked = 0
        call_bytes = _BYTES_A_BYTE * (maker.input_bytes + maker.output_bytes)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self._waiting_bytes = min(_WAITING_BYTES, memory // 8)
        self._processors = len(os.sched_getaffinity(0))
        self._at_a_time = max(1, min(self._processors, min(_WORKING_BYTES, memory // 4) // max(1, call_bytes)))

    def add(self, slot: tuple[int, int], opened: OpenedCall) -> None:
        """Keeps a call for a later check, in place of what was in its slot: (process, reservoir slot)."""
        replaced = self._waiting.get(slot)
        self._waiting[slot] = opened
        if replaced is not None:
            self._free(replaced)

    @property
    def is_full(self) -> bool:
        """Whether the waiting calls have to be checked before more are added."""
        return len(self._waiting) * self._maker.output_bytes >= self._waiting_bytes

    def start_checks(self) -> None:
        """Starts to check all waiting calls; ``finish_checks`` returns what is found."""
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        self.checked += len(waiting)
        at_a_time = min(self._at_a_time, len(waiting))
        # With few checks, or memory for few, processors are left over. NumPy's many short steps would only wait for one
        # another on many threads.
        threads = self._processors // at_a_time if loaded() is not None else 1
        pool = ThreadPoolExecutor(at_a_time, thread_name_prefix="verify")
        self._checks += [pool.submit(self._check, opened, threads) for opened in waiting.values()]
        # Its threads end with the last check.
        pool.shutdown(wait=False)

    def finish_checks(self) -> Outcome | None:
        """Checks all waiting calls and returns the outcome of the first that is wrong. Raises Cancelled."""
        self.start_checks()
        try:
            for check in self._checks:
                self._wait_for(check)
                if (wrong := check.result()) is not None:
                    return wrong
            if self._oracle is not None and not self._oracle.problem:
                self._oracle.rest()
        finally:
            self.discard()
        return None

    def discard(self) -> None:
        """Discards all waiting calls. Returns once no check runs any more."""
        checks, self._checks = self._checks, []
        self._waiting.clear()
        for check in checks:
            check.cancel()
        wait(checks)

    def _wait_for(self, check: Future[Outcome | None]) -> None:
        while wait([check], _POLL_S).not_done:
            if self._cancelled():
                raise Cancelled

    def _free(self, opened: OpenedCall) -> None:
        for output in opened.outputs.values():
            self.rooms.give(output)

    def _check(self, opened: OpenedCall, threads: int) -> Outcome | None:
        try:
            return self._outcome(opened, threads)
        finally:
            self._free(opened)

    def _outcome(self, opened: OpenedCall, threads: int) -> Outcome | None:
        call, pack = opened.call, self._maker.pack
        if self._oracle is not None and not self._oracle.problem:
            question = self._maker.question(call, opened.outputs, opened.digests, opened.pool)
            if self._oracle.agrees(question):
                return None
        inputs = self._maker.inputs(call, threads, opened.pool)
        try:
            # The seed is drawn now, after the outputs were committed, so that nothing could know which elements are
            # checked. Each check is a thread; a product within one must not take all processors.
            with product_threads(1):
                wrong = spot_check(pack, call.case, inputs, opened.committed(pack, threads), secrets.randbits(62))
        except NotCommittedError:
            message = "the outputs of a timed call are not those that had been committed before it was opened"
            return Outcome(Verdict.SECURITY_VIOLATION, message)
        return None if wrong is None else Outcome(Verdict.WRONG_ANSWER, wrong.message, wrong)
