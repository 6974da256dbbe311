"""Controls one runner process: sends requests, awaits replies against the clock, and reports how it ended.

Nothing blocks without a deadline. Time for which the runner had to wait for a processor does not count, up to a
multiple of the limit, so that a busy machine makes no verdict. Every reply is checked: it must carry the nonce of the
open request, and nothing may follow it before the next request is sent.
"""

from __future__ import annotations

import contextlib
import secrets
import select
import socket
import time
from collections.abc import Callable
from typing import NoReturn

from judge.errors import Cancelled, JailUnavailable
from judge.sandbox.launch import JailExit, JailProcess
from judge.sandbox.starvation import ProcessorTime, starved_s
from judge.supervisor.launcher import Launcher
from judge.supervisor.output_drain import OutputDrain
from judge.supervisor.shared_memory import LibraryFile, SharedRegion
from judge.wire.frames import FrameError, Op, pack_frame, split_frame
from judge.wire.messages import FailedReply
from records import dataclass

#: How often a wait checks the clock, the amount of output and cancellation.
_TICK_S = 0.05
#: How often a limit may be granted again for time without a processor: what a limit bounds stays bounded.
_MOST_EXTENSIONS = 9.0
#: The name of a thread that makes machine code (``emulator.runtime.programs.MAKING_CODE``): a claim.
_MAKING_CODE = "making code"
#: How long a runner may make machine code beyond the limits of all its requests. Once it is made, the request gets its
#: limit again.
MOST_CODE_S = 60.0


class RequestRefused(Exception):
    """The runner is alive and reports that it could not do what was requested."""

    def __init__(self, reply: FailedReply) -> None:
        super().__init__(reply.message)
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a runner ended, and during which request. The first reason that holds, in field order, is the one.

    ``output`` is all that it printed, and ``printed`` what it has printed since that was last asked for. ``session_s``
    is set if it is not the request that took too long, but all of them together. ``starved`` is set if the time ran
    out because the machine had no processor for it, however much longer it got.
    """

    during: Op
    tampered: str
    flooded: bool
    timed_out: bool
    exit: JailExit
    output: str
    session_s: float | None = None
    printed: str = ""
    starved: bool = False
    #: Whether the time ran out while it made machine code, for which it had got more time.
    making_code: bool = False


class RunnerEnded(Exception):
    """The runner ended before it answered the request."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(f"the runner ended during {ending.during.name}")
        self.ending = ending


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that awaits its reply, and when it was sent."""

    op: Op
    nonce: int
    sent_s: float


class RunnerProcess:
    """Owns a runner process with its socket, shared memory and output. ``close`` releases them all."""

    def __init__(self, launcher: Launcher, input_bytes: int, output_bytes: int, *, print_limit: int,
                 cancelled: Callable[[], bool] = lambda: False) -> None:  # fmt: skip
        #: Asked while a reply is awaited; the session that takes over a warm runner sets it.
        self.cancelled = cancelled
        #: The seconds for which it had to wait for a processor so far, as far as it was asked for anything.
        self.starved_s = 0.0
        self._code_s = 0.0
        self._received = bytearray()
        self.inputs = SharedRegion("inputs", input_bytes, read_only=True)
        self.outputs = SharedRegion("outputs", output_bytes, read_only=False)
        self._library = LibraryFile()
        self._drain = OutputDrain(print_limit)
        self._socket, theirs = socket.socketpair()
        self._jail: JailProcess | None = None
        try:
            fds = (theirs.fileno(), self.inputs.fd, self.outputs.fd, self._library.fd)
            self._jail = launcher(fds, self._drain.write_fd)
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
            self._drain.release_writer()
        self._socket.setblocking(False)
        # Not select.select: a server may hold more than 1024 descriptors.
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    def provide_library(self, library: bytes) -> None:
        """Puts the submission where LOAD will find it."""
        self._library.fill(library)

    def schedule_in_real_time(self) -> None:
        """Lets the process run before all that is not timed, where that is permitted: times are steadier then."""
        if self._jail is not None:
            self._jail.schedule_in_real_time()

    def request(self, op: Op, payload: bytes, limit_s: float, *, busy_wait_s: float = 0.0) -> tuple[bytes, float]:
        """Sends a request and returns the reply's payload and the seconds between sending and receiving.

        For the first ``busy_wait_s`` this thread waits without sleeping.
        Raises RunnerEnded (the process is gone then), RequestRefused, Cancelled.
        """
        return self.receive(self.send(op, payload), limit_s, busy_wait_s=busy_wait_s)

    def send(self, op: Op, payload: bytes) -> Pending:
        """Sends a request without waiting. Raises RunnerEnded."""
        nonce = secrets.randbits(64)
        if self._received or self._readable(0):
            self._read()
            if self._received:
                self._end(op, tampered="it sent bytes that nobody had asked for")
        rest = memoryview(pack_frame(op, nonce, payload))
        deadline = time.monotonic() + 10.0
        pending = Pending(op, nonce, time.perf_counter())
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                if time.monotonic() > deadline:
                    self._end(op, timed_out=True)
                time.sleep(0.001)
            except OSError:
                self._end(op)
        return pending

    def receive(self, request: Pending, limit_s: float, *, busy_wait_s: float = 0.0) -> tuple[bytes, float]:
        """Returns the reply to a sent request, like ``request``."""
        op, started = request.op, request.sent_s
        times: dict[int, ProcessorTime] | None = None
        times_at_s = 0.0
        granted_s = code_s = for_code_s = 0.0
        while True:
            waited_s = time.perf_counter() - started
            left = limit_s + granted_s + for_code_s - waited_s
            try:
                found = split_frame(self._received)
            except FrameError as error:
                self._end(op, tampered=f"it sent {error}")
            if found is not None:
                break
            if self._readable(0):
                # Before the clock is checked: a reply that arrived while this process did something else is in time.
                if not self._read():
                    self._end(op)
                continue
            if waited_s < busy_wait_s < limit_s:
                continue
            if self._drain.flooded.is_set():
                self._end(op, flooded=True)
            if left <= 0:
                lost_s, most_s = self._starved_s(times, waited_s - times_at_s), _MOST_EXTENSIONS * limit_s
                more_s = min(lost_s, most_s) - granted_s
                if more_s >= _TICK_S / 5:
                    granted_s += more_s
                    continue
                is_making = self._is_making_code()
                if is_making and self._code_s < MOST_CODE_S:
                    self._code_s += _TICK_S
                    code_s += _TICK_S
                    for_code_s += _TICK_S
                    continue
                if code_s and not is_making and for_code_s == code_s:
                    for_code_s += limit_s
                    continue
                self._end(op, timed_out=True, starved=lost_s >= most_s > 0, making_code=is_making)
            self.stop_if_cancelled()
            if times is None and waited_s > busy_wait_s + _TICK_S / 2 and self._jail is not None:
                # Not at once: most replies come soon, and times are taken of some.
                times, times_at_s = self._jail.processor_times(), waited_s
            if not self._readable(min(left, _TICK_S)) and self._gone() and not self._readable(0):
                self._end(op)
        wall_s = time.perf_counter() - started
        self.starved_s += self._starved_s(times, wall_s - times_at_s)
        frame, size = found
        del self._received[:size]
        if frame.nonce != request.nonce or frame.op & ~(Op.REPLY | Op.FAILED) != request.op:
            self._end(op, tampered="it sent a reply to another request")
        if frame.op & Op.FAILED:
            try:
                refused = FailedReply.unpack(frame.payload)
            except FrameError as error:
                self._end(op, tampered=f"it sent {error}")
            raise RequestRefused(refused)
        return frame.payload, wall_s

    def _starved_s(self, before: dict[int, ProcessorTime] | None, wall_s: float) -> float:
        """Returns how long the runner has waited for a processor since a reading ``wall_s`` ago."""
        if before is None or self._jail is None:
            return 0.0
        return starved_s(before, self._jail.processor_times(), wall_s)

    def _is_making_code(self) -> bool:
        return self._jail is not None and _MAKING_CODE in self._jail.thread_names()

    def _gone(self) -> bool:
        """Returns whether the jail has ended. A process that never came into it may still hold the socket."""
        return self._jail is not None and self._jail.poll()

    def stop_if_cancelled(self) -> None:
        """Closes the runner and raises Cancelled if the judgement was cancelled."""
        if self.cancelled():
            self.close()
            raise Cancelled

    def reject(self, op: Op, reason: str) -> NoReturn:
        """Ends the runner because of an invalid reply. Raises RunnerEnded."""
        self._end(op, tampered=reason)

    def take_output(self) -> str:
        """Returns the output since the last call, as far as the limit allows."""
        return self._drain.take()

    @property
    def flooded(self) -> bool:
        """Whether it printed more than is allowed."""
        return self._drain.flooded.is_set()

    @property
    def alive(self) -> bool:
        """Whether the process runs and has sent nothing unrequested."""
        return self._jail is not None and not self._jail.poll() and not self._received and not self._readable(0)

    def leave(self, limit_s: float) -> JailExit | None:
        """Lets the process end by itself, within ``limit_s``, and releases everything. Raises Cancelled."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        until_s = time.monotonic() + limit_s
        while self._jail is not None and time.monotonic() < until_s and not self._jail.wait(_TICK_S):
            self.stop_if_cancelled()
        return self.close()

    def close(self) -> JailExit | None:
        """Kills the process and releases everything. Idempotent; the first call returns how the process ended."""
        jail, self._jail = self._jail, None
        try:
            return jail.end() if jail is not None else None
        finally:
            if jail is not None:
                self._drain.finish()
            self._socket.close()
            self._library.close()
            self.inputs.close()
            self.outputs.close()
            self._drain.release_writer()

    def _readable(self, timeout_s: float) -> bool:
        return bool(self._poll.poll(max(0.0, timeout_s) * 1e3))

    def _read(self) -> bool:
        """Reads new data; returns False at the end of the stream."""
        try:
            piece = self._socket.recv(1 << 16)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._received += piece
        return bool(piece)

    def _end(
        self,
        during: Op,
        *,
        tampered: str = "",
        flooded: bool = False,
        timed_out: bool = False,
        starved: bool = False,
        making_code: bool = False,
    ) -> NoReturn:
        """Ends the runner and raises RunnerEnded."""
        jail = self._jail
        if jail is None:
            raise RuntimeError("the runner has been closed")
        if not (tampered or flooded or timed_out):
            # The socket closed: wait for the process to end by itself, so that its own exit code is reported.
            jail.wait(2.0)
        try:
            ended = jail.end()
        except JailUnavailable as failure:
            said = self._drain.finish().strip().splitlines()
            self._jail = None
            self.close()
            raise JailUnavailable(": ".join([failure.message, *said[-1:]]), failure.remedy) from None
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        output = self._drain.finish()
        flooded = flooded or self._drain.flooded.is_set()
        printed = self._drain.take()
        self.close()
        raise RunnerEnded(
            Ending(
                during,
                tampered,
                flooded,
                timed_out,
                ended,
                output,
                printed=printed,
                starved=starved,
                making_code=making_code,
            )
        )
