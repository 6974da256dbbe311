"""Worker processes of tests that need not import anything: each is forked from one process that has.

What they run is ``worker_process``; starting it as a command takes a second of processor time, nearly all of it for the
imports. ``Fleet.start_engine`` starts workers as operators do.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.builds import ROOT

_PRELOADED = "tests.integration.workers.preloaded"
_context = multiprocessing.get_context("forkserver")


class Forked:
    """A process with as much of ``subprocess.Popen`` as fleets use."""

    def __init__(self, kind: str, diary: Path, *, log: Path, environment: Mapping[str, str]) -> None:
        _context.set_forkserver_preload([_PRELOADED])
        self._process = _context.Process(target=_run, args=(kind, str(diary), str(log), dict(environment)))
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run(kind: str, diary: str, log: str, environment: dict[str, str]) -> None:
    from tests.integration.workers.worker_process import main

    os.setsid()
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    for path, flags, descriptors in ((os.devnull, os.O_RDONLY, (0,)), (log, os.O_WRONLY | os.O_APPEND, (1, 2))):
        opened = os.open(path, flags | os.O_CREAT)
        for descriptor in descriptors:
            os.dup2(opened, descriptor)
        os.close(opened)
    main(kind, diary)
