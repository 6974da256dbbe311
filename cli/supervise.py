"""Runs processes until a stop signal, restarts those that die, and leaves no process behind.

Each service leads its own session, so that the terminal's Ctrl-C reaches only the supervisor, which then stops the
services. The supervisor is a subreaper: orphans of the services become its children, and it kills them at the end. If
the supervisor itself is killed, the kernel sends the services SIGTERM (PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path
from typing import IO

from records import dataclass

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: A service that lived this long has recovered, so its next restart is quick again.
_STEADY_S = 60.0
_BACKOFF_S = (0.5, 1.0, 2.0, 5.0, 15.0, 30.0)
#: How long to wait for killed processes: a driver that releases memory can delay their end.
_KILL_S = 10.0
_LOG_KEPT_BYTES = 8 << 20
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Service:
    """A process to run.

    ``argv`` starts in ``cwd`` with the supervisor's environment and ``env``, and with the open files ``fds``.
    """

    name: str
    argv: Sequence[str]
    cwd: Path
    env: dict[str, str] = field(default_factory=dict)
    fds: tuple[int, ...] = ()


@dataclass(slots=True)
class _State:
    service: Service
    process: subprocess.Popen[bytes] | None = None
    started_s: float = 0.0
    start_again_s: float | None = None
    deaths: int = 0


class Supervisor:
    """Runs services and restarts them. Their output goes to ``log_dir/NAME.log``, and reports of failures to ``say``.

    Use only one at a time, in the main thread: signals and orphans belong to the whole process.
    """

    def __init__(
        self,
        services: Sequence[Service],
        *,
        log_dir: Path,
        say: Callable[[str], None],
        grace_s: float = 12.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._states = [_State(service) for service in services]
        self._log_dir = log_dir
        self._say = say
        self._grace_s = grace_s
        self._clock = clock
        self._pid = os.getpid()

    def run(self, *, tick: Callable[[], None] = lambda: None) -> int:
        """Runs until SIGINT, SIGTERM or SIGHUP and returns its number. Calls ``tick`` a few times a second."""
        self._log_dir.mkdir(parents=True, exist_ok=True)
        # Under nohup, SIGHUP stays ignored.
        stop = {one for one in _STOP_SIGNALS if one != signal.SIGHUP or signal.getsignal(one) != signal.SIG_IGN}
        waited = stop | {signal.SIGCHLD}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        try:
            for state in self._states:
                self._start(state)
            while True:
                got = signal.sigtimedwait(waited, 0.25)
                if got is not None and got.si_signo in stop:
                    return got.si_signo
                self._reap()
                self._start_due()
                tick()
        finally:
            try:
                self._stop(stop)
            finally:
                _prctl(_PR_SET_CHILD_SUBREAPER, 0)
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _start(self, state: _State) -> None:
        service, state.start_again_s, state.started_s = state.service, None, self._clock()
        with self._open_log(service.name) as log:
            state.process = subprocess.Popen(
                list(service.argv),
                cwd=service.cwd,
                env={**os.environ, **service.env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=service.fds,
                start_new_session=True,
                preexec_fn=self._in_child,
            )

    def _in_child(self) -> None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != self._pid:  # the supervisor died before the line above took effect
            os._exit(1)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())

    def _open_log(self, name: str) -> IO[bytes]:
        path = self._log_dir / f"{name}.log"
        if path.exists() and path.stat().st_size > _LOG_KEPT_BYTES:
            path.replace(path.with_suffix(".log.old"))
        return path.open("ab")

    def _reap(self) -> None:
        """Reaps every child that has ended, services and adopted orphans, and schedules restarts."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for state in self._states:
                if state.process is not None and state.process.pid == pid:
                    state.process.returncode = os.waitstatus_to_exitcode(status)
                    state.process = None
                    self._after_death(state, os.waitstatus_to_exitcode(status))

    def _after_death(self, state: _State, code: int) -> None:
        now = self._clock()
        state.deaths = 0 if now - state.started_s > _STEADY_S else state.deaths
        wait_s = _BACKOFF_S[min(state.deaths, len(_BACKOFF_S) - 1)]
        state.deaths += 1
        state.start_again_s = now + wait_s
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        log = self._log_dir / f"{state.service.name}.log"
        self._say(f"{state.service.name} {how}; starting it again in {wait_s:g} s (see {log})")

    def _start_due(self) -> None:
        for state in self._states:
            if state.start_again_s is not None and self._clock() >= state.start_again_s:
                self._start(state)

    def _stop(self, stop: set[signal.Signals]) -> None:
        """Sends SIGTERM, waits, then kills what is left. A second signal ends the wait."""
        for state in self._states:
            state.start_again_s = None
            if state.process is not None:
                os.kill(state.process.pid, signal.SIGTERM)
        until = self._clock() + self._grace_s
        while self._any_alive() and (left_s := until - self._clock()) > 0:
            got = signal.sigtimedwait(stop | {signal.SIGCHLD}, min(left_s, 0.25))
            if got is not None and got.si_signo in stop:
                self._say("stopping at once")
                break
            self._collect()
        until = self._clock() + _KILL_S
        while (left := descendants(self._pid)) and self._clock() < until:
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            signal.sigtimedwait({signal.SIGCHLD}, 0.05)
            self._collect()

    def _collect(self) -> None:
        """Reaps children without reporting their ends."""
        self._say, say = (lambda _line: None), self._say
        try:
            self._reap()
        finally:
            self._say = say

    def _any_alive(self) -> bool:
        return any(state.process is not None for state in self._states)


def descendants(pid: int) -> list[int]:
    """Returns every descendant of ``pid``, zombies included, read from /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name in parentheses may contain spaces and parentheses, so parse after the last one.
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, queue = [], [pid]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def _prctl(option: int, argument: int) -> None:
    if _libc.prctl(option, argument, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
