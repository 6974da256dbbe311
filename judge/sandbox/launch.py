"""Starts a command in a jail, observes it and ends it.

``launch`` returns the process to the caller, who keeps time; ``run_to_end`` is for commands that only print and end.
The jail dies with the *thread* that launched it (the kernel's parent-death signal is per thread), so launch a
long-lived jail from a thread that outlives it. Ending a jail ends its whole process tree: process namespace and cgroup.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from judge.errors import JailUnavailable
from judge.sandbox import real_time, starvation
from judge.sandbox.cgroup import Group
from judge.sandbox.enter_plan import enter_plan
from judge.sandbox.policy import Policy
from judge.sandbox.starvation import FairClock
from judge.sandbox.threads import names_of_threads
from judge.wire.last_word import SIZE_BYTES, LastWord
from records import dataclass

#: What operators, service managers and the kernel's OOM killer end processes with.
OUTSIDE_SIGNALS = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
#: A command may take so many times its limit if it waits for a processor most of the time.
_MOST_STARVATION = 10
#: Seconds between two readings of a command's clock.
_TICK_S = 0.5
_ENTER = Path(__file__).with_name("enter.py")


@dataclass(frozen=True, slots=True)
class JailExit:
    """How a jail ended.

    Exactly one of ``code`` and ``signal`` is set, as the command's own; both are None if it was killed from outside.
    ``cpu_s`` and ``memory_peak_bytes`` are None without the cgroup controller.

    ``killed``: the judge killed it. ``oom_killed``: its own memory limit did, not a container's or the machine's.
    ``cpu_limited``: its own limit on CPU time did. ``jail_lost``: something outside killed bubblewrap itself, which no
    process inside can do. ``called_exit``: the command called ``exit``, and ``code`` is all of what that was given.
    ``stack_overflow``: it ended by SIGSEGV for that.
    """

    code: int | None
    signal: int | None
    wall_s: float
    cpu_s: float | None
    memory_peak_bytes: int | None
    oom_killed: bool
    killed: bool
    cpu_limited: bool = False
    jail_lost: bool = False
    called_exit: bool = False
    stack_overflow: bool = False

    @property
    def perhaps_from_outside(self) -> bool:
        """Whether something outside may have ended it.

        It ended by a signal that operators and service managers send, and no limit of the jail explains that. The
        command may have sent the signal to itself, or have ended with its number.
        """
        if self.killed or self.oom_killed or self.cpu_limited:
            return False
        return self.jail_lost or self.signal in OUTSIDE_SIGNALS

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with 0."""
        return self.code == 0


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a command, standard output and error together, truncated at the requested limit.

    ``timed_out``: the judge ended it at its limit. ``starved``: because it had waited for a processor for far too long,
    not because of its own time. ``idled``: it had computed for less than half of its limit and waited for something.
    """

    data: bytes
    truncated: bool
    timed_out: bool
    exit: JailExit
    starved: bool = False
    idled: bool = False


class JailProcess:
    """A running jail. As a context manager, or after ``end()``, it leaves no process and no cgroup behind."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        group: Group,
        status: IO[bytes],
        *,
        walled: bool,
        cpu_limit_s: float | None = None,
        last_word: IO[bytes] | None = None,
    ) -> None:
        self._process = process
        self._cpu_limit_s = cpu_limit_s
        self._group = group
        self._status = status
        self._last_word = last_word
        self._walled = walled
        self._started_s = time.monotonic()
        self._killed = False
        self._exit: JailExit | None = None
        self._failure: JailUnavailable | None = None
        self._ending = threading.Lock()
        self.stdin = process.stdin
        self.stdout = process.stdout
        self.stderr = process.stderr

    @property
    def pid(self) -> int:
        """The outermost process of the jail, by its number outside."""
        return self._process.pid

    def poll(self) -> bool:
        """Returns whether it has ended."""
        return self._process.poll() is not None

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until it ends; returns False if it does not in time."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def cpu_s(self) -> float | None:
        """Returns the CPU time of the whole process tree so far; None without the controller."""
        return self._group.usage().cpu_s

    def processor_times(self) -> dict[int, starvation.ProcessorTime]:
        """Returns how long each thread of the process tree ran and had to wait for a processor so far."""
        return starvation.processor_times(self._process.pid)

    def thread_names(self) -> set[str]:
        """Returns how the threads of the process tree are named now; they name themselves."""
        return names_of_threads(self._process.pid)

    def schedule_in_real_time(self) -> bool:
        """Schedules the whole process tree in real time; returns whether that is permitted."""
        return real_time.schedule_in_real_time(self._process.pid)

    def kill(self) -> None:
        """Kills the whole process tree and waits for its root. Does nothing to a jail that has ended."""
        if self._process.poll() is None:
            self._killed = True
            self._group.kill()
            if not self._walled:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()

    def end(self) -> JailExit:
        """Kills remaining processes, cleans up and returns how the jail ended. Idempotent, from any thread.

        Raises JailUnavailable if the jail could not be set up: then nothing ran in it.
        """
        with self._ending:
            if self._failure is not None:
                raise self._failure
            if self._exit is None:
                try:
                    self._exit = self._clean_up()
                except JailUnavailable as failure:
                    self._failure = failure
                    raise
            return self._exit

    def __enter__(self) -> JailProcess:
        return self

    def __exit__(self, *_: object) -> None:
        # A failed set-up raised once must not be raised again over the error that is on its way.
        with contextlib.suppress(JailUnavailable):
            self.end()

    def _clean_up(self) -> JailExit:
        self.kill()
        wall_s = time.monotonic() - self._started_s
        # The process namespace takes its processes with it; this is for a jail that is switched off.
        self._group.kill()
        usage = self._group.usage()
        self._group.remove()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        word = self._told_from_inside()
        code, by_signal = self._how_it_ended()
        if word is not None and not self._killed:
            code, by_signal = word.code, word.signal
        return JailExit(
            code,
            by_signal,
            wall_s,
            usage.cpu_s,
            usage.memory_peak_bytes,
            usage.oom_killed,
            self._killed,
            cpu_limited=self._cpu_limited(by_signal, usage.cpu_s),
            jail_lost=code is None and by_signal is None and not self._killed and not usage.oom_killed,
            called_exit=word is not None and word.called_exit,
            stack_overflow=word is not None and word.stack_overflow,
        )

    def _how_it_ended(self) -> tuple[int | None, int | None]:
        with self._status:
            os.set_blocking(self._status.fileno(), False)
            text = (self._status.read() or b"").decode("utf-8", "replace")
        reports: dict[str, object] = {}
        for line in text.splitlines():
            with contextlib.suppress(ValueError):
                reports.update(json.loads(line))
        if "enter-error" in reports:
            raise JailUnavailable(f"the jail could not be entered: {reports['enter-error']}", "gpujudge doctor")
        if self._walled:
            code = reports.get("exit-code")
            if code is None and not self._killed and not self._root_was_killed():
                how = f"bubblewrap could not set the jail up: it ended with {self._process.returncode}"
                raise JailUnavailable(how, "gpujudge doctor")
            # Bubblewrap's pid 1 inside reports a signal as a shell does.
            return _split(code) if isinstance(code, int) else (None, None)
        returned = self._process.returncode
        if self._killed:
            return None, None
        return (returned, None) if returned >= 0 else (None, -returned)

    def _told_from_inside(self) -> LastWord | None:
        if self._last_word is None:
            return None
        with self._last_word as pipe:
            os.set_blocking(pipe.fileno(), False)
            return LastWord.unpack(pipe.read(SIZE_BYTES) or b"")

    def _root_was_killed(self) -> bool:
        return -self._process.returncode in OUTSIDE_SIGNALS or self._process.returncode == 128 + signal.SIGKILL

    def _cpu_limited(self, by_signal: int | None, cpu_s: float | None) -> bool:
        if by_signal == signal.SIGXCPU:
            return True
        # A process that ignores SIGXCPU is killed at the hard limit, which is never below the soft one.
        used_up = self._cpu_limit_s is not None and cpu_s is not None and cpu_s >= self._cpu_limit_s
        return by_signal == signal.SIGKILL and used_up


def _split(code: int) -> tuple[int | None, int | None]:
    return (None, code - 128) if code > 128 and code - 128 < signal.NSIG else (code, None)


def launch(
    policy: Policy,
    argv: Sequence[str],
    *,
    pass_fds: Sequence[int] = (),
    stdin: int | IO[bytes] | None = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = subprocess.DEVNULL,
    stderr: int | IO[bytes] | None = subprocess.DEVNULL,
    last_word: IO[bytes] | None = None,
) -> JailProcess:
    """Starts ``argv`` under ``policy``. ``pass_fds`` keep their numbers inside; streams are as in subprocess.

    ``last_word`` is where ``argv`` tells how what it started has ended (``judge.wire.last_word``), if it does.
    Bubblewrap prints its own messages to ``stderr``. Raises JailUnavailable if bubblewrap is missing, if a path that
    the policy names does not exist, or if there is no system call filter for this processor.
    """
    walled = policy.jail != "off"
    as_root = os.geteuid() == 0
    group = Group.create(memory_bytes=policy.limits.memory_bytes, processes=policy.limits.processes)
    status_read, status_write = os.pipe()
    plan_fd = os.memfd_create("jail-plan")
    fds = [plan_fd, status_write]
    try:
        plan = enter_plan(policy, argv, group, status_write, fds, walled=walled, as_root=as_root)
        os.write(plan_fd, json.dumps(plan).encode())
        os.lseek(plan_fd, 0, os.SEEK_SET)
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", str(_ENTER), str(plan_fd)],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(*pass_fds, *fds),
            env={"LC_ALL": "C"},
            cwd="/",
            start_new_session=not walled,
        )
    except BaseException as error:
        os.close(status_read)
        group.remove()
        if isinstance(error, OSError):
            raise JailUnavailable(f"the jail could not be started: {error}", "gpujudge doctor") from error
        raise
    finally:
        for fd in fds:
            os.close(fd)
    status = os.fdopen(status_read, "rb", buffering=0)
    return JailProcess(process, group, status, walled=walled, cpu_limit_s=policy.limits.cpu_s, last_word=last_word)


def launch_with_parent(
    policy: Policy, argv: Sequence[str], fds: Sequence[int], *, stdout: int, stderr: int
) -> JailProcess:
    """Starts a command that starts another and tells how that one has ended, like ``launch``.

    ``argv`` gets the numbers of its descriptors appended: the one to tell that to, and ``fds``.
    """
    reader, writer = os.pipe()
    last_word = os.fdopen(reader, "rb", buffering=0)
    try:
        passed = (writer, *fds)
        command = [*argv, *map(str, passed)]
        return launch(policy, command, pass_fds=passed, stdout=stdout, stderr=stderr, last_word=last_word)
    except BaseException:
        last_word.close()
        raise
    finally:
        os.close(writer)


def run_to_end(
    policy: Policy, argv: Sequence[str], *, wall_s: float, output_bytes: int, pass_fds: Sequence[int] = ()
) -> Output:
    """Runs a command that prints and ends.

    It ends with its outermost process, whatever else holds its output open: where bubblewrap is killed while it sets
    the jail up, the process that it had started waits for it for ever.
    Waiting for a processor does not count towards ``wall_s``; it is ended all the same after ten times as long. Output
    beyond ``output_bytes`` is read and dropped, so that it neither fills memory nor blocks the command. Raises
    JailUnavailable if the jail could not be set up.
    """
    with launch(policy, argv, pass_fds=pass_fds, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as jail:
        assert jail.stdout is not None
        kept, total, is_printing, timed_out, starved = bytearray(), 0, True, False, False
        clock = FairClock(jail.processor_times)
        with selectors.DefaultSelector() as selector:
            selector.register(jail.stdout, selectors.EVENT_READ)
            while True:
                left_s = wall_s - clock.fair_s()
                starved = clock.wall_s > _MOST_STARVATION * wall_s
                timed_out = left_s <= 0 or starved
                tick_s = min(left_s, _TICK_S)
                if timed_out or (not is_printing and jail.wait(tick_s)):
                    break
                # Before the output is looked at: what it printed before it ended is all there then.
                has_ended = jail.poll()
                if not is_printing or not selector.select(0 if has_ended else tick_s):
                    if has_ended:
                        break
                    continue
                chunk = os.read(jail.stdout.fileno(), 1 << 16)
                is_printing = bool(chunk)
                total += len(chunk)
                kept += chunk[: max(0, output_bytes - len(kept))]
        try:
            ended = jail.end()
        except JailUnavailable as error:
            said = bytes(kept[:2000]).decode("utf-8", "replace").strip()
            raise JailUnavailable(f"{error.message}: {said}" if said else error.message, error.remedy) from None
    timed_out = timed_out and ended.killed
    idled = timed_out and ended.cpu_s is not None and ended.cpu_s < wall_s / 2
    return Output(bytes(kept), total > len(kept), timed_out, ended, starved, idled)
