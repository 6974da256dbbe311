"""Extends one worker's lease from a separate process, so that no computation of the worker delays it.

A thread would not do: anything that holds the interpreter's lock for long (a library call, a slow regular expression
over hostile text) would stop it. The worker writes the lease that it holds to the keeper's standard input, as a line of
JSON; the keeper answers with the lease's status after each check. It exits at the end of its input, so that a killed
worker's lease expires. It extends no lease while the worker is stopped (SIGSTOP), nor beyond MAX_HOLD_S.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from logs import LogSettings, configure_logging
from store.clock import utc_now
from store.database import make_engine, make_session_factory
from store.queue.jobs import Lease, LeaseRules, LeaseStatus, Stage, extend_lease, lease_status
from store.settings import Settings

log = structlog.get_logger(__name__)

#: How often the lease's status is read, to notice a cancellation.
STATUS_POLL_S = 0.5
#: Longer than any attempt takes: a worker that hangs then loses its job.
MAX_HOLD_S = 3600.0

OnStatus = Callable[[Lease, LeaseStatus], object]


class LeaseKeeper:
    """Runs the keeper process for a worker. A context manager.

    It replaces a keeper that dies at once: the new one has most of the lease's time to start.
    """

    def __init__(self, command: list[str] | None = None) -> None:
        self._command = command or [sys.executable, "-P", "-m", "workers.lease_keeper_process"]
        self._lock = threading.Lock()
        self._held: Lease | None = None
        self._on_status: OnStatus = lambda _lease, _status: None
        self._closed = False
        self._process = self._start()

    @property
    def pid(self) -> int:
        """Returns the process id of the keeper."""
        return self._process.pid

    @contextlib.contextmanager
    def hold(self, lease: Lease, on_status: OnStatus) -> Iterator[None]:
        """Extends the lease until the block ends, one lease at a time.

        A background thread calls ``on_status`` with the lease's status after each check.
        """
        with self._lock:
            self._held, self._on_status = lease, on_status
            self._send(lease)
        try:
            yield
        finally:
            with self._lock:
                self._held = None
                self._send(None)

    def close(self) -> None:
        """Ends the keeper process. Idempotent."""
        with self._lock:
            self._closed = True
            process = self._process
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        process.kill()
        process.wait()

    def __enter__(self) -> LeaseKeeper:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self._listen, args=(process,), name="lease-keeper", daemon=True).start()
        return process

    def _send(self, lease: Lease | None) -> None:
        assert self._process.stdin is not None
        # If the keeper has died, the listening thread replaces it and sends the lease again.
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(_encode(lease))
            self._process.stdin.flush()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as answers:
            for answer in answers:
                token, status = json.loads(answer)
                with self._lock:
                    lease, on_status = self._held, self._on_status
                if lease is not None and lease.token == token:
                    on_status(lease, LeaseStatus(status))
        process.wait()
        with self._lock:
            if self._closed:
                return
            log.warning("lease_keeper.died", status=process.returncode)
            if process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
            # A keeper that fails at start must not be restarted in a busy loop.
            time.sleep(0.1)
            self._process = self._start()
            self._send(self._held)


def _encode(lease: Lease | None) -> bytes:
    fields = None if lease is None else {**dataclasses.asdict(lease), "stage": lease.stage.name}
    return json.dumps(fields).encode() + b"\n"


def _decode(line: bytes) -> Lease | None:
    fields = json.loads(line)
    return None if fields is None else Lease(**{**fields, "stage": Stage[fields["stage"]]})


class _Keeper:
    """The keeper process: one thread, which extends one lease at a time."""

    def __init__(self, settings: Settings, worker_pid: int) -> None:
        engine = make_engine(settings)
        self._sessions: sessionmaker[Session] = make_session_factory(engine)
        self._reads = make_session_factory(engine, read_only=True)
        self._rules = LeaseRules.from_settings(settings)
        self._heartbeat_s = settings.heartbeat_s
        self._worker_pid = worker_pid
        self._lease: Lease | None = None
        self._since_s = self._extended_s = 0.0

    def keep(self) -> None:
        """Extends leases until the worker exits."""
        os.set_blocking(0, False)
        received = b""
        with selectors.DefaultSelector() as selector:
            selector.register(0, selectors.EVENT_READ)
            while True:
                waiting = None if self._lease is None else min(STATUS_POLL_S, self._heartbeat_s)
                if selector.select(waiting):
                    piece = os.read(0, 1 << 16)
                    if not piece:
                        return
                    *lines, received = (received + piece).split(b"\n")
                    if lines:
                        self._lease = _decode(lines[-1])
                        self._since_s = self._extended_s = time.monotonic()
                elif self._lease is not None and _is_running(self._worker_pid):
                    self._check(self._lease)

    def _check(self, lease: Lease) -> None:
        now_s = time.monotonic()
        extends = now_s - self._extended_s >= self._heartbeat_s and now_s - self._since_s < MAX_HOLD_S
        try:
            if extends:
                with self._sessions.begin() as session:
                    status = extend_lease(session, lease, now=utc_now(), rules=self._rules)
                self._extended_s = now_s
            else:
                with self._reads() as session:
                    status = lease_status(session, lease)
        except SQLAlchemyError as error:
            # Only the database can tell whether the lease is lost; ask again when it is reachable.
            log.warning("heartbeat.failed", job=lease.job_id, error=str(error))
            return
        if status is LeaseStatus.LOST:
            self._lease = None
        with contextlib.suppress(BrokenPipeError):
            os.write(1, json.dumps([lease.token, status.value]).encode() + b"\n")


def _is_running(pid: int) -> bool:
    """Returns whether the process exists and is not stopped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "TtZX"


def main() -> None:
    """Runs the keeper until its standard input ends."""
    # The worker ends the keeper: a signal to all processes of a service must not end the lease before the job.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    worker_pid = os.getppid()
    configure_logging(LogSettings(), process="lease keeper")
    _Keeper(Settings(), worker_pid).keep()
