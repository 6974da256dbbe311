"""Starts a runner under a profiler, in a jail of its own, and takes what the profiler wrote.

The jail shows the profiler beside what any runner sees. Its parts talk over sockets of the jail's own empty network,
and the profiler starts threads and opens files whenever it likes, so the runner does not lock itself as others do
(``StartRequest.lock``): the jail's wall is the only one. Nothing that comes out of it ranks anything.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from judge.compile.compiler_jail import contents
from judge.sandbox.bind import Bind
from judge.sandbox.launch import JailProcess, launch
from judge.sandbox.policy import MIB, Policy
from judge.sandbox.python_paths import PYTHON_OPTIONS
from judge.settings import JudgeSettings
from judge.supervisor.launcher import runner_policy
from judge.supervisor.runner_spec import RunnerSpec

#: The largest report that is taken.
REPORT_BYTES = 32 * MIB
_LOG_BYTES = 64 << 10
#: What a profiler takes beside the runner: processes and threads, memory, and time of processors in seconds.
_PROCESSES, _MEMORY_BYTES, _CPU_S = 96, 4 << 30, 600.0
#: Where the log and the report are inside: in the jail's own /tmp.
_LOG, _REPORT = "/tmp/profiler.log", "/tmp/profile.ncu-rep"  # noqa: S108 (the jail's own)


class ProfiledLauncher:
    """Launches one runner of a device under a profiler. ``close`` it once its log and its report were taken.

    ``command`` are the profiler's program and options, to which those that name its log and its report are added;
    ``folder`` is where it is installed.
    """

    def __init__(self, spec: RunnerSpec, settings: JudgeSettings, command: Sequence[str], folder: Path) -> None:
        self._policy = _policy(runner_policy(spec, settings), folder)
        self._command = [*command, "--log-file", _LOG, "--export", _REPORT]
        self._log_fd, self._report_fd = os.memfd_create("profiler-log"), os.memfd_create("profiler-report")

    def __call__(self, fds: Sequence[int], output_fd: int) -> JailProcess:
        own = (_LOG, str(self._log_fd), _REPORT, str(self._report_fd))
        program = [sys.executable, *PYTHON_OPTIONS, "-m", "judge.runner.profiler"]
        argv = [*program, *own, *map(str, fds), "--", *self._command]
        passed = (self._log_fd, self._report_fd, *fds)
        return launch(self._policy, argv, pass_fds=passed, stdout=output_fd, stderr=output_fd)

    @property
    def log(self) -> str:
        """The profiler's messages. The submission can have written to them."""
        return contents(self._log_fd, _LOG_BYTES).decode("utf-8", "replace")

    @property
    def report(self) -> bytes | None:
        """The profiler's report: empty if there is none, None if it is larger than REPORT_BYTES."""
        return None if os.fstat(self._report_fd).st_size > REPORT_BYTES else contents(self._report_fd, REPORT_BYTES)

    def close(self) -> None:
        """Drops the log and the report."""
        os.close(self._log_fd)
        os.close(self._report_fd)


def _policy(policy: Policy, folder: Path) -> Policy:
    limits = policy.limits
    limits = dataclasses.replace(
        limits,
        memory_bytes=(limits.memory_bytes or 0) + _MEMORY_BYTES,
        processes=(limits.processes or 0) + _PROCESSES,
        cpu_s=(limits.cpu_s or 0.0) + _CPU_S,
        tmpfs_bytes=1024 * MIB,
        open_files=4096,
        real_time=False,
    )
    return dataclasses.replace(policy, limits=limits, binds=(*policy.binds, Bind.same(folder)), seccomp="talking")
