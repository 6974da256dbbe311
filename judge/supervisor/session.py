"""One runner with one submission loaded, and calls to its ``solve``: three requests each, the middle one on the
clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from judge.runner.frames import FrameError, Op
from judge.runner.messages import WATCHED_SLOWDOWN, FetchReply, PrepareRequest, RunReply, StartRequest
from judge.supervisor.launcher import Launcher
from judge.supervisor.process import Pending, RunnerProcess

#: For what the runner itself has to do around a call (copying, checking guard bands): generous, as machines are shared.
_AROUND_CALL_S = 30.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The clocks of one session: bringing the device up, one call, and all of it; and the bytes that it may print."""

    start_s: float
    call_s: float
    total_s: float
    print_bytes: int


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What came back of one call. ``wall_s`` is this side's own clock from asking for it to hearing that it is done."""

    ran: RunReply
    fetched: FetchReply
    wall_s: float


class Session:
    """Starts a runner at once and without waiting; ``load`` waits for it.

    Every method raises RunnerEnded or RequestRefused when the runner cannot do it, and Cancelled.
    """

    def __init__(self, launcher: Launcher, start: StartRequest, bounds: Bounds,
                 cancelled: Callable[[], bool] = lambda: False) -> None:  # fmt: skip
        self._bounds = bounds
        self._names = len(start.arguments)
        self._deadline = time.monotonic() + bounds.start_s
        self.calls = 0
        self.loaded = False
        #: The request that was sent last.
        self.last_op = Op.START
        self.runner = RunnerProcess(
            launcher, start.input_bytes, start.output_bytes, print_limit=bounds.print_bytes, cancelled=cancelled
        )
        self._starting: Pending | None = self.runner.send(Op.START, start.pack())

    def wait_until_ready(self) -> None:
        """Returns once the device is up."""
        if self._starting is not None:
            pending, self._starting = self._starting, None
            self.runner.receive(pending, self._bounds.start_s)

    def load(self, library: bytes) -> None:
        """Loads the submission; its static constructors run under the clock of a call. The session's time starts
        here.
        """
        self.wait_until_ready()
        self._deadline = time.monotonic() + self._bounds.total_s
        self.runner.provide_library(library)
        self._request(Op.LOAD, b"", max(self._bounds.call_s, 5.0))
        self.loaded = True

    def call(self, prepare: PrepareRequest) -> CallRecord:
        """One call of ``solve``, on buffers in a known state, its inputs lying in the shared memory. Afterwards the
        outputs do.
        """
        self.calls += 1
        self._request(Op.PREPARE, prepare.pack(), _AROUND_CALL_S)
        call_s = self._bounds.call_s * (WATCHED_SLOWDOWN if prepare.watch else 1.0)
        payload, wall_s = self._request(Op.RUN, b"", call_s)
        try:
            ran = RunReply.unpack(payload)
        except FrameError as error:
            self.runner.reject(Op.RUN, f"it sent {error}")
        payload, _ = self._request(Op.FETCH, b"", _AROUND_CALL_S)
        try:
            fetched = FetchReply.unpack(payload)
        except FrameError as error:
            self.runner.reject(Op.FETCH, f"it sent {error}")
        if len(fetched.damage) != self._names:
            self.runner.reject(Op.FETCH, "it sent a reply about another call")
        return CallRecord(ran, fetched, wall_s)

    def finish(self) -> bool:
        """Ends the runner; whether it had printed more than it may."""
        self.runner.close()
        return self.runner.flooded

    def _request(self, op: Op, payload: bytes, limit_s: float) -> tuple[bytes, float]:
        self.last_op = op
        return self.runner.request(op, payload, min(limit_s, self._deadline - time.monotonic()))
