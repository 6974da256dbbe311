"""One runner with one submission loaded, and calls to its ``solve``: three requests for one whose outputs are judged,
the middle one on the clock; or several for a burst of calls, of which each is on the clock by itself.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from judge.build.artifact import has_own_streams
from judge.runner.bursts import CommitReply, OpenRequest, ReserveRequest, StageRequest, TimedCall, TimeRequest
from judge.runner.frames import FrameError, Op, Role, Writer
from judge.runner.messages import (
    WATCHED_SLOWDOWN,
    FetchReply,
    LoadRequest,
    PrepareRequest,
    RunReply,
    StartReply,
    StartRequest,
    Watch,
)
from judge.runner.recordings import PIECE_BYTES, RecordingReply, TransfersReply
from judge.supervisor.launcher import Launcher
from judge.supervisor.process import Pending, RunnerProcess

#: For what the runner itself has to do around a call (copying, checking guard bands): generous, as machines are shared.
_AROUND_CALL_S = 30.0
#: What else wants the device's memory: guard bands, what flushes the caches, the contexts of runners that wait.
_ROOM_BYTES = 4 << 30
#: So long this side stays awake for the end of a timed call, where there are processors to spare: to be woken takes a
#: time of its own, longer after a longer sleep.
_AWAKE_S = 0.02 if len(os.sched_getaffinity(0)) >= 4 else 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The clocks of one session: bringing the device up, one call, and all of it; and the bytes that it may print.
    ``grace_s``: how much longer a call may take for what is not the submission's work."""

    start_s: float
    call_s: float
    total_s: float
    print_bytes: int
    grace_s: float = 0.0

    def kernel_s(self, watch: Watch = Watch.NOTHING) -> float:
        """What the emulator gives a kernel."""
        return self.call_s * (WATCHED_SLOWDOWN if watch else 1.0)

    def solve_s(self, watch: Watch = Watch.NOTHING) -> float:
        """How long ``solve`` is waited for."""
        return self.kernel_s(watch) + self.grace_s


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What came back of one call. ``wall_s`` is this side's own clock from asking for it to hearing that it is done."""

    ran: RunReply
    fetched: FetchReply
    wall_s: float


@dataclass(frozen=True, slots=True)
class StartedRunner:
    """A runner whose device is coming up, or (``starting`` None) is up: it knows nothing yet of what it will serve.
    ``free_bytes``: what the device's memory had room for when it was up."""

    process: RunnerProcess
    starting: Pending | None
    free_bytes: int = 0

    def wait(self, limit_s: float) -> StartedRunner:
        """Returns once the device is up. Raises RunnerEnded, RequestRefused and Cancelled."""
        if self.starting is None:
            return self
        payload, _ = self.process.receive(self.starting, limit_s)
        try:
            return StartedRunner(self.process, None, StartReply.unpack(payload).free_bytes)
        except FrameError as error:
            self.process.reject(Op.START, f"it sent {error}")


def start_runner(launcher: Launcher, start: StartRequest, print_bytes: int) -> StartedRunner:
    """Without waiting. The thread that calls it must outlive the runner. Raises RunnerEnded, InternalError."""
    process = RunnerProcess(launcher, start.input_bytes, start.output_bytes, print_limit=print_bytes)
    return StartedRunner(process, process.send(Op.START, start.pack()))


@dataclass(frozen=True, slots=True)
class TimedClaim:
    """What the runner says of one timed call. ``wall_s`` is this side's own clock from asking for it to hearing that it
    is done."""

    wall_s: float
    left: CommitReply

    @property
    def ran(self) -> RunReply:
        return self.left.ran

    @property
    def finished(self) -> bool:
        """Whether the call came to its end, error or not, and the device can go on."""
        return self.left.finished


@dataclass(frozen=True, slots=True)
class MadeBurst:
    """The calls that were made, and the seconds that all of it took by this side's own clock."""

    calls: tuple[TimedClaim, ...]
    wall_s: float

    @property
    def claims_s(self) -> tuple[float, ...]:
        """What each call is said to have taken."""
        return tuple(claim.ran.elapsed_s for claim in self.calls)

    @property
    def beside_s(self) -> tuple[float, ...]:
        """What of each call's time is not in its claim."""
        return tuple(claim.wall_s - claim.ran.elapsed_s for claim in self.calls)

    @property
    def preempted(self) -> tuple[bool, ...]:
        """Whether something else had the runner's processor for a while, as it says."""
        return tuple(claim.left.preempted for claim in self.calls)


class Session:
    """Takes a runner over, which nobody else has used; ``load`` waits until it is up.

    Every method raises RunnerEnded or RequestRefused when the runner cannot do it, and Cancelled.
    """

    def __init__(self, started: StartedRunner, submission: LoadRequest, bounds: Bounds,
                 cancelled: Callable[[], bool] = lambda: False) -> None:  # fmt: skip
        self._bounds = bounds
        self._submission = submission
        self._deadline = time.monotonic() + bounds.start_s
        self.calls = 0
        self.loaded = False
        #: The request that was sent last.
        self.last_op = Op.START
        self.runner = started.process
        self.runner.cancelled = cancelled
        self._started = started
        self._wanted_bytes = 0

    def wait_until_ready(self) -> None:
        """Returns once the device is up."""
        self._started = self._started.wait(self._bounds.start_s)

    @property
    def had_room(self) -> bool:
        """Whether the device had memory for the buffers that were last asked for, before a submission was loaded."""
        return self._started.free_bytes >= self._wanted_bytes + _ROOM_BYTES

    def load(self, library: bytes) -> None:
        """Loads the submission; its static constructors run under the clock of a call. The session's time starts
        here.
        """
        self._load(Op.LOAD, library)

    def load_recorded(self, library: bytes) -> None:
        """As ``load``; what the submission asks of the emulator is recorded from then on."""
        self.wait_until_ready()
        self._deadline = time.monotonic() + self._bounds.total_s
        self._request(Op.RECORD, b"", _AROUND_CALL_S)
        self._load(Op.LOAD, library)

    def load_replay(self, library: bytes, recording: bytes) -> TransfersReply:
        """Instead of ``load``: calls do then what was recorded, whatever they are given. Nothing of the submission's
        host code runs."""
        self.wait_until_ready()
        self._deadline = time.monotonic() + self._bounds.total_s
        for begin in range(0, len(recording), PIECE_BYTES):
            self._request(Op.GIVE, recording[begin : begin + PIECE_BYTES], _AROUND_CALL_S)
        payload = self._load(Op.REPLAY, library)
        try:
            return TransfersReply.unpack(payload)
        except FrameError as error:
            self.runner.reject(Op.REPLAY, f"it sent {error}")

    def take_recording(self) -> bytes:
        """All that was recorded since ``load_recorded``: a claim, of bounded size."""
        taken = bytearray()
        while True:
            payload, _ = self._request(Op.RECORDING, Writer().u64(len(taken)).payload(), _AROUND_CALL_S)
            try:
                reply = RecordingReply.unpack(payload)
            except FrameError as error:
                self.runner.reject(Op.RECORDING, f"it sent {error}")
            taken += reply.piece
            if len(taken) >= reply.total:
                return bytes(taken[: reply.total])
            if not reply.piece:
                self.runner.reject(Op.RECORDING, "it sent nothing of a recording")

    def _load(self, op: Op, library: bytes) -> bytes:
        self.wait_until_ready()
        self._deadline = time.monotonic() + self._bounds.total_s
        self.runner.provide_library(library)
        request = dataclasses.replace(self._submission, own_streams=has_own_streams(library))
        payload, _ = self._request(op, request.pack(), max(self._bounds.solve_s(), 5.0))
        self.loaded = True
        return payload

    def call(self, prepare: PrepareRequest) -> CallRecord:
        """One call of ``solve``, on buffers in a known state, its inputs lying in the shared memory. Afterwards the
        outputs do.
        """
        self.calls += 1
        self._wanted_bytes = sum(slot.size for slot in prepare.slots)
        self._request(Op.PREPARE, prepare.pack(), _AROUND_CALL_S)
        payload, wall_s = self._request(Op.RUN, b"", self._bounds.solve_s(prepare.watch))
        try:
            ran = RunReply.unpack(payload)
        except FrameError as error:
            self.runner.reject(Op.RUN, f"it sent {error}")
        payload, _ = self._request(Op.FETCH, b"", _AROUND_CALL_S)
        try:
            fetched = FetchReply.unpack(payload)
        except FrameError as error:
            self.runner.reject(Op.FETCH, f"it sent {error}")
        if len(fetched.damage) != len(self._submission.arguments):
            self.runner.reject(Op.FETCH, "it sent a reply about another call")
        return CallRecord(ran, fetched, wall_s)

    def reserve(self, request: ReserveRequest) -> None:
        """Room on the device for the bursts of a case; what was staged is gone. Before the first burst of each case."""
        self._wanted_bytes = request.places * sum(request.rooms)
        self._request(Op.RESERVE, request.pack(), _AROUND_CALL_S)

    def stage(self, request: StageRequest) -> None:
        """Takes a masked input from the shared memory to the device, for a later burst."""
        self._request(Op.STAGE, request.pack(), _AROUND_CALL_S)

    def time(self, request: TimeRequest) -> MadeBurst:
        """Makes the calls of a burst, one after the other, up to one after which the device cannot go on."""
        # Its replies come so soon that nobody waits for them, and looks.
        self.runner.stop_if_cancelled()
        started = time.perf_counter()
        self._request(Op.TIME, request.pack(), _AROUND_CALL_S)
        calls = []
        for call in request.calls:
            calls.append(self._solve(call))
            if not calls[-1].finished:
                break
        return MadeBurst(tuple(calls), time.perf_counter() - started)

    def _solve(self, call: TimedCall) -> TimedClaim:
        self.calls += 1
        payload, wall_s = self._request(Op.SOLVE, b"", self._bounds.solve_s(), awake_s=_AWAKE_S)
        if payload:
            self.runner.reject(Op.SOLVE, "it sent more than that the call is over")
        payload, _ = self._request(Op.COMMIT, b"", _AROUND_CALL_S)
        try:
            left = CommitReply.unpack(payload)
        except FrameError as error:
            self.runner.reject(Op.COMMIT, f"it sent {error}")
        arguments = self._submission.arguments
        outputs = sum(argument.role in (Role.OUT, Role.INOUT) for argument in arguments)
        expected = (len(arguments), 0 if call.copy else outputs) if left.finished else (0, 0)
        if (len(left.damage), len(left.digests)) != expected:
            self.runner.reject(Op.COMMIT, "it sent a reply about another call")
        return TimedClaim(wall_s, left)

    def open_call(self, call: int) -> None:
        """The outputs of this call of the last burst lie in the shared memory then, where its slots say."""
        self._request(Op.OPEN, OpenRequest(call).pack(), _AROUND_CALL_S)

    def finish(self) -> bool:
        """Ends the runner; whether it had printed more than it may."""
        self.runner.close()
        return self.runner.flooded

    def _request(self, op: Op, payload: bytes, limit_s: float, *, awake_s: float = 0.0) -> tuple[bytes, float]:
        self.last_op = op
        limit_s = min(limit_s, self._deadline - time.monotonic())
        return self.runner.request(op, payload, limit_s, awake_s=awake_s)
