"""Start a command in a jail, watch it, end it.

``launch`` gives the process to the caller, who holds the clock; ``run_to_end`` is for commands that only print and end.
The jail dies with the *thread* that launched it (the kernel's parent-death signal is per thread), so whoever launches a
long-lived jail does it from a thread that outlives it. Ending a jail ends its whole tree: process namespace and cgroup.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from judge.errors import InternalError, JailUnavailable
from judge.sandbox import seccomp
from judge.sandbox.bwrap import bwrap_arguments
from judge.sandbox.cgroup import Group
from judge.sandbox.policy import Policy

#: Whom a judge that runs as root becomes before bubblewrap: nobody.
JAIL_UID = 65534
_ENTER = Path(__file__).with_name("enter.py")
#: Mount points for the stage: any folder will do, it is covered in a mount namespace of its own.
_STAGE_FOLDERS = ("/mnt", "/media", "/srv", "/opt")


@dataclass(frozen=True, slots=True)
class JailExit:
    """How a jail ended. Exactly one of ``code`` and ``signal`` is set, as the command itself saw it; both are None when
    it was killed from outside. ``cpu_s`` and ``memory_peak_bytes`` are None where no cgroup could tell."""

    code: int | None
    signal: int | None
    wall_s: float
    cpu_s: float | None
    memory_peak_bytes: int | None
    oom_killed: bool
    killed: bool

    @property
    def ok(self) -> bool:
        """Ended by itself with 0."""
        return self.code == 0


@dataclass(frozen=True, slots=True)
class Output:
    """What a command printed, standard output and error together, cut off at the limit that was asked for."""

    data: bytes
    truncated: bool
    timed_out: bool
    exit: JailExit


class JailProcess:
    """A running jail. Use as a context manager, or call ``end()``: it leaves no process and no cgroup behind."""

    def __init__(self, process: subprocess.Popen[bytes], group: Group, status: IO[bytes], *, walled: bool) -> None:
        self._process = process
        self._group = group
        self._status = status
        self._walled = walled
        self._started_s = time.monotonic()
        self._killed = False
        self._exit: JailExit | None = None
        self._failure: JailUnavailable | None = None
        self.stdin = process.stdin
        self.stdout = process.stdout
        self.stderr = process.stderr

    @property
    def pid(self) -> int:
        """The outermost process of the jail, as seen from outside."""
        return self._process.pid

    def poll(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it ends; False when it did not in time."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def cpu_s(self) -> float | None:
        """CPU time of the whole tree so far."""
        return self._group.usage().cpu_s

    def kill(self) -> None:
        """SIGKILL the whole tree, and wait for its root. Does nothing to one that has ended."""
        if self._process.poll() is None:
            self._killed = True
            self._group.kill()
            if not self._walled:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()

    def end(self) -> JailExit:
        """Kill what still runs, tidy up, and say how it ended. Idempotent.

        Raises JailUnavailable when the jail could not be set up: then nothing ran in it.
        """
        if self._failure is not None:
            raise self._failure
        if self._exit is None:
            self.kill()
            wall_s = time.monotonic() - self._started_s
            # What the root left behind dies with the process namespace; this is for a jail without walls.
            self._group.kill()
            usage = self._group.usage()
            self._group.remove()
            for stream in (self.stdin, self.stdout, self.stderr):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()
            try:
                code, by_signal = self._how_it_ended()
            except JailUnavailable as failure:
                self._failure = failure
                raise
            self._exit = JailExit(
                code, by_signal, wall_s, usage.cpu_s, usage.memory_peak_bytes, usage.oom_killed, self._killed
            )
        return self._exit

    def __enter__(self) -> JailProcess:
        return self

    def __exit__(self, *_: object) -> None:
        # A failed set-up raised once must not be raised again over the error that is on its way.
        with contextlib.suppress(JailUnavailable):
            self.end()

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
            if code is None and not self._killed and not self._group_was_oom_killed():
                how = f"bubblewrap could not set the jail up: it ended with {self._process.returncode}"
                raise JailUnavailable(how, "gpujudge doctor")
            # The process that stands for pid 1 inside reports a signal as a shell would.
            return _split(code) if isinstance(code, int) else (None, None)
        returned = self._process.returncode
        if self._killed:
            return None, None
        return (returned, None) if returned >= 0 else (None, -returned)

    def _group_was_oom_killed(self) -> bool:
        return self._process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)


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
) -> JailProcess:
    """Start ``argv`` under ``policy``. ``pass_fds`` keep their numbers inside; streams are as in subprocess.

    What bubblewrap itself has to say goes to ``stderr``. Raises JailUnavailable when bubblewrap is missing,
    something that the policy names does not exist, or this machine has no system call filters of ours.
    """
    walled = policy.jail != "off"
    as_root = os.geteuid() == 0
    group = Group.create(memory_bytes=policy.limits.memory_bytes, processes=policy.limits.processes)
    status_read, status_write = os.pipe()
    plan_fd = os.memfd_create("jail-plan")
    fds = [plan_fd, status_write]
    try:
        plan = _plan(policy, argv, group, status_write, fds, walled=walled, as_root=as_root)
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
    return JailProcess(process, group, os.fdopen(status_read, "rb", buffering=0), walled=walled)


def run_to_end(
    policy: Policy, argv: Sequence[str], *, wall_s: float, output_bytes: int, pass_fds: Sequence[int] = ()
) -> Output:
    """Run a command that prints and ends. What it prints beyond ``output_bytes`` is read and dropped, so that a flood
    neither fills memory nor stops it. Raises JailUnavailable when the jail could not be set up."""
    deadline = time.monotonic() + wall_s
    with launch(policy, argv, pass_fds=pass_fds, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as jail:
        assert jail.stdout is not None
        kept, total, timed_out = bytearray(), 0, False
        with selectors.DefaultSelector() as selector:
            selector.register(jail.stdout, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    timed_out = True
                    break
                chunk = os.read(jail.stdout.fileno(), 1 << 16)
                if not chunk:
                    break
                total += len(chunk)
                kept += chunk[: max(0, output_bytes - len(kept))]
        if not timed_out and not jail.wait(max(0.1, deadline - time.monotonic())):
            timed_out = True
        try:
            ended = jail.end()
        except JailUnavailable as error:
            said = bytes(kept[:2000]).decode("utf-8", "replace").strip()
            raise JailUnavailable(f"{error.message}: {said}" if said else error.message, error.remedy) from None
    return Output(bytes(kept), total > len(kept), timed_out, ended)


def _plan(
    policy: Policy, argv: Sequence[str], group: Group, status_fd: int, fds: list[int], *, walled: bool, as_root: bool
) -> dict[str, object]:
    """What ``enter.py`` is to do. Descriptors it adds to ``fds`` are closed by the caller."""
    for bind in policy.binds if walled else ():
        if not bind.source.exists():
            raise JailUnavailable(f"{bind.source} is to be seen in the jail and does not exist")
    staged = [bind.source for bind in policy.binds if walled and as_root and not _reachable(bind.source)]
    stage_folder = next((folder for folder in _STAGE_FOLDERS if Path(folder).is_dir()), None)
    if staged and stage_folder is None:
        raise InternalError(f"none of {', '.join(_STAGE_FOLDERS)} exists to mount on", "mkdir /mnt")
    if walled:
        argv = _bounded(policy, argv, group.controllers)
        seccomp_fd = None
        if policy.seccomp != "none":
            seccomp_fd = os.memfd_create("jail-seccomp")
            fds.append(seccomp_fd)
            os.write(seccomp_fd, seccomp.base_program())
            os.lseek(seccomp_fd, 0, os.SEEK_SET)
        sources = {source: f"{stage_folder}/{index}" for index, source in enumerate(staged)}
        command = bwrap_arguments(policy, argv, sources=sources, status_fd=status_fd, seccomp_fd=seccomp_fd)
    else:
        command = list(argv)
    drop = JAIL_UID if walled and as_root else None
    return {
        "cgroups": group.procs_files(),
        "rlimits": _rlimits(policy, group.controllers),
        "stage": [str(source) for source in staged],
        "stage_folder": stage_folder,
        "uid": drop,
        "gid": drop,
        "die_with_parent": not walled,
        "cwd": None if walled else policy.cwd,
        "status_fd": status_fd,
        "argv": command,
        "env": {} if walled else dict(policy.env),
    }


def _bounded(policy: Policy, argv: Sequence[str], controllers: frozenset[str]) -> Sequence[str]:
    """The command with RLIMIT_NPROC where no cgroup counts its processes.

    Set inside, since the kernel (5.14 and newer) counts processes by user *and* user namespace: set outside it would
    count those of every jail, and of whatever else runs under that uid.
    """
    if "pids" in controllers or policy.limits.processes is None:
        return argv
    prlimit = "/usr/bin/prlimit"
    if not Path(prlimit).exists():
        raise JailUnavailable("there is neither a pids cgroup nor prlimit to bound processes", "install util-linux")
    return [prlimit, f"--nproc={policy.limits.processes}", "--", *argv]


def _rlimits(policy: Policy, controllers: frozenset[str]) -> dict[str, int]:
    limits = policy.limits
    rlimits = {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": limits.open_files, "RLIMIT_MSGQUEUE": 0}
    if limits.file_bytes is not None:
        rlimits["RLIMIT_FSIZE"] = limits.file_bytes
    if limits.cpu_s is not None:
        rlimits["RLIMIT_CPU"] = max(1, round(limits.cpu_s))
    if "memory" not in controllers and limits.memory_bytes is not None:
        name = "RLIMIT_AS" if limits.memory_fallback == "address_space" else "RLIMIT_DATA"
        rlimits[name] = limits.memory_bytes
    return rlimits


def _reachable(path: Path) -> bool:
    """Whether any uid may walk to ``path``."""
    return all(os.stat(folder).st_mode & 0o001 for folder in path.absolute().parents)  # noqa: PTH116
