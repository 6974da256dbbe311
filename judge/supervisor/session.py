"""Loads one submission into one runner and calls its ``solve``.

A call whose outputs are judged takes three requests, of which the middle one is timed. In a burst, each call is timed
by itself.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future

import numpy as np

from judge.compile.artifact import Artifact
from judge.packs.collection.pool import SecretPool
from judge.packs.data.drawing import Drawing
from judge.supervisor.process import RunnerEnded
from judge.supervisor.runner_start import StartedRunner
from judge.wire.bursts import CommitReply, OpenRequest, PieceRequest, PlaceRequest, ReserveRequest, TimedCall
from judge.wire.frames import FrameError, Op, Role, Writer
from judge.wire.messages import (
    FetchReply,
    LoadRequest,
    PrepareRequest,
    RunReply,
    Watch,
    kernel_time_factor,
)
from judge.wire.recordings import PIECE_BYTES, RecordingReply, ReplayReply
from records import dataclass

#: Time limit for the runner's own work around a call (copying, checking guard bands): generous, as machines are shared.
_AROUND_CALL_S = 30.0
#: The pool is sent in pieces of this size: the shared memory's pages are then written again and again.
_POOL_PIECE_BYTES = 32 << 20
#: How long the supervisor waits for each reply of a burst without sleeping, if there are processors to spare: waking up
#: takes time, and more after a longer sleep.
_BUSY_WAIT_S = 0.02 if len(os.sched_getaffinity(0)) >= 4 else 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one session: seconds for starting the device, for one call and in total, and bytes of output.

    ``grace_s`` is how much longer a call may take for work that is not the submission's.
    """

    start_s: float
    call_s: float
    total_s: float
    print_bytes: int
    grace_s: float = 0.0

    def kernel_s(self, watch: Watch = Watch.NOTHING) -> float:
        """Returns how long the emulator lets a kernel run. Verdicts name ``call_s``, as statements do."""
        return self.call_s * kernel_time_factor(watch)

    def solve_s(self, watch: Watch = Watch.NOTHING) -> float:
        """Returns how long the supervisor waits for ``solve``."""
        return self.kernel_s(watch) + self.grace_s


@dataclass(frozen=True, slots=True)
class CallRecord:
    """The result of one call. ``wall_s`` is the supervisor's time from requesting it to receiving the reply."""

    ran: RunReply
    fetched: FetchReply
    wall_s: float


@dataclass(frozen=True, slots=True)
class TimedClaim:
    """The runner's claims about one timed call.

    ``wall_s`` is the supervisor's time from requesting the call to receiving the reply.
    """

    wall_s: float
    commit: CommitReply

    @property
    def ran(self) -> RunReply:
        return self.commit.ran

    @property
    def finished(self) -> bool:
        """Whether the call ended, with or without an error, and the device can go on."""
        return self.commit.finished


@dataclass(frozen=True, slots=True)
class BurstRecord:
    """The calls of a burst, and the seconds that they and what surrounds them took by the supervisor's clock."""

    calls: tuple[TimedClaim, ...]
    wall_s: float

    @property
    def claims_s(self) -> tuple[float, ...]:
        """The claimed time of each call."""
        return tuple(claim.ran.elapsed_s for claim in self.calls)

    @property
    def overhead_s(self) -> tuple[float, ...]:
        """Each call's wall time less its claimed time."""
        return tuple(claim.wall_s - claim.ran.elapsed_s for claim in self.calls)

    @property
    def preempted(self) -> tuple[bool, ...]:
        """Whether the runner claims to have lost its processor during each call."""
        return tuple(claim.commit.preempted for claim in self.calls)


class Session:
    """Serves one submission with a runner that nobody has used; ``load`` waits until the runner is up.

    ``reservation`` is the device memory to be reserved before the submission is loaded. Every method raises
    RunnerEnded, RequestRefused and Cancelled.
    """

    def __init__(
        self,
        started: StartedRunner,
        submission: LoadRequest,
        bounds: Bounds,
        cancelled: Callable[[], bool] = lambda: False,
        reservation: ReserveRequest | None = None,
    ) -> None:
        self._bounds = bounds
        self._submission = submission
        self._deadline = time.monotonic() + bounds.start_s
        self.calls = 0
        self.loaded = False
        #: The last request sent.
        self.last_op = Op.START
        self.runner = started.process
        self.runner.cancelled = cancelled
        self._started = started
        self._reservation = reservation
        self._has_reserved = False
        #: What is being reserved ahead.
        self._ahead: tuple[ReserveRequest, Future[None]] | None = None
        #: What the inputs of timed calls are mixed with, once it was reserved.
        self.pool: SecretPool | None = None

    def wait_until_ready(self) -> None:
        """Returns once the device is up."""
        self._started = self._started.wait(self._bounds.start_s)

    def reserve_ahead(self, request: ReserveRequest, threads: Executor) -> None:
        """Has a thread reserve the memory, which ``reserve`` of the same request then waits for. Raises nothing."""
        self._ahead = request, threads.submit(self._reserve, request)

    def adopt(self, submission: LoadRequest, bounds: Bounds) -> None:
        """Gives a session that was started ahead the submission's settings and limits."""
        self._submission, self._bounds = submission, bounds

    def reserve(self, request: ReserveRequest) -> None:
        """Reserves device memory and fills the pool, before anything is loaded. Once only."""
        if self._ahead is None:
            self._reserve(request)
            return
        asked, reserving = self._ahead
        if asked != request:
            raise ValueError(f"{asked} was reserved ahead, and now {request} is asked for")
        reserving.result()

    def _reserve(self, request: ReserveRequest) -> None:
        self.wait_until_ready()
        # A session may have waited for its turn while others were timed.
        self._deadline = time.monotonic() + self._bounds.start_s
        self._has_reserved = True
        self._request(Op.RESERVE, request.pack(), _AROUND_CALL_S)
        if request.pool:
            self.pool = SecretPool.draw(request.pool)
            self._fill_pool(self.pool)

    def _fill_pool(self, pool: SecretPool) -> None:
        words = pool.size // 4
        drawing = Drawing(pool.recipe, words)
        step = min(_POOL_PIECE_BYTES, self.runner.inputs.size) // 4
        for first in range(0, words, step):
            count = min(step, words - first)
            drawing.draw(first, self.runner.inputs.view(0, count, np.dtype(np.uint32)))
            self._request(Op.POOL, PieceRequest(4 * first, 0, 4 * count).pack(), _AROUND_CALL_S)
        self.runner.inputs.clear(0, min(4 * step, self.runner.inputs.size))

    def load(self, artifact: Artifact) -> None:
        """Loads the submission, under the time limit of a call for its constructors. The session's time starts here."""
        self._load(Op.LOAD, artifact)

    def load_recorded(self, artifact: Artifact) -> None:
        """Loads the submission and records what it asks of the device from then on."""
        self.wait_until_ready()
        self._deadline = time.monotonic() + self._bounds.total_s
        self._request(Op.RECORD, b"", _AROUND_CALL_S)
        self._load(Op.LOAD, artifact)

    def load_replay(self, artifact: Artifact, recording: bytes) -> ReplayReply:
        """Loads a recording instead of the submission: every call replays it, without any of its host code."""
        self.wait_until_ready()
        self._deadline = time.monotonic() + self._bounds.total_s
        for begin in range(0, len(recording), PIECE_BYTES):
            self._request(Op.GIVE, recording[begin : begin + PIECE_BYTES], _AROUND_CALL_S)
        payload = self._load(Op.REPLAY, artifact)
        try:
            return ReplayReply.unpack(payload)
        except FrameError as error:
            self.runner.reject(Op.REPLAY, f"it sent {error}")

    def take_recording(self) -> bytes:
        """Returns all that was recorded since ``load_recorded``: a claim, of bounded size."""
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

    def _load(self, op: Op, artifact: Artifact) -> bytes:
        self.wait_until_ready()
        if self._reservation is not None and not self._has_reserved:
            self.reserve(self._reservation)
        self._deadline = time.monotonic() + self._bounds.total_s
        self.runner.provide_library(artifact.library)
        if self._submission.processor is not None:
            self.runner.schedule_in_real_time()
        request = dataclasses.replace(
            self._submission, own_streams=artifact.own_streams, registers=artifact.registers, loader=artifact.loader
        )
        payload, _ = self._request(op, request.pack(), max(self._bounds.solve_s(), 5.0))
        self.loaded = True
        return payload

    def call(self, prepare: PrepareRequest) -> CallRecord:
        """Calls ``solve`` once. Inputs are read from the shared memory, and outputs are written to it."""
        self.calls += 1
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

    def mutate(self, texts: Sequence[str]) -> None:
        """Loads the submission again on the emulator, with this PTX in place of what has the same kernels.

        All texts together have to be shorter than ``judge.wire.frames.MAX_PAYLOAD``.
        """
        self._request(Op.MUTATE, "\0".join(texts).encode(), _AROUND_CALL_S)

    def stage(self, request: PieceRequest) -> None:
        """Copies a masked input from the shared memory to the device, for a later call."""
        self._request(Op.STAGE, request.pack(), _AROUND_CALL_S)

    def time(self, calls: Sequence[TimedCall]) -> BurstRecord:
        """Makes the calls of a burst one after the other, up to one after which the device cannot go on.

        What undoes an earlier call's settings is not on the clock: the runner knows nothing of the next call then.
        """
        # The replies of a burst come so soon that no wait would check for cancellation.
        self.runner.stop_if_cancelled()
        made: list[TimedClaim] = []
        wall_s = 0.0
        for index, call in enumerate(calls):
            self._request(Op.UNDO, b"", _AROUND_CALL_S, busy_wait_s=_BUSY_WAIT_S)
            placing = PlaceRequest(index, call).pack()
            started = time.perf_counter()
            self._request(Op.PLACE, placing, _AROUND_CALL_S, busy_wait_s=_BUSY_WAIT_S)
            made.append(self._solve(call))
            wall_s += time.perf_counter() - started
            if not made[-1].finished:
                break
        return BurstRecord(tuple(made), wall_s)

    def _solve(self, call: TimedCall) -> TimedClaim:
        self.calls += 1
        payload, wall_s = self._request(Op.SOLVE, b"", self._bounds.solve_s(), busy_wait_s=_BUSY_WAIT_S)
        if payload:
            self.runner.reject(Op.SOLVE, "it sent more than that the call is over")
        payload, _ = self._request(Op.COMMIT, b"", _AROUND_CALL_S, busy_wait_s=_BUSY_WAIT_S)
        try:
            commit = CommitReply.unpack(payload)
        except FrameError as error:
            self.runner.reject(Op.COMMIT, f"it sent {error}")
        arguments = self._submission.arguments
        outputs = sum(argument.role in (Role.OUT, Role.INOUT) for argument in arguments)
        expected = (len(arguments), 0 if call.copy else outputs) if commit.finished else (0, 0)
        if (len(commit.damage), len(commit.digests)) != expected:
            self.runner.reject(Op.COMMIT, "it sent a reply about another call")
        return TimedClaim(wall_s, commit)

    def open_call(self, call: int) -> None:
        """Opens a call of the burst: its outputs then lie in the shared memory, where its slots say."""
        self._request(Op.OPEN, OpenRequest(call).pack(), _AROUND_CALL_S)

    def finish(self) -> bool:
        """Ends the runner. Returns whether it printed more than is allowed."""
        self.runner.close()
        return self.runner.flooded

    def _request(self, op: Op, payload: bytes, limit_s: float, *, busy_wait_s: float = 0.0) -> tuple[bytes, float]:
        self.last_op = op
        left_s = self._deadline + self.runner.starved_s - time.monotonic()
        try:
            return self.runner.request(op, payload, min(limit_s, left_s), busy_wait_s=busy_wait_s)
        except RunnerEnded as ended:
            if not ended.ending.timed_out or left_s > limit_s or not self.loaded:
                raise
            raise RunnerEnded(dataclasses.replace(ended.ending, session_s=self._bounds.total_s)) from None
