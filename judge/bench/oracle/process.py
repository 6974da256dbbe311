"""The process of ``judge.bench.oracle.server`` on one GPU, and one that is up before it is known for which pack.

Importing CuPy and opening the GPU takes most of a second, for which a worker's submissions need not wait.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from judge.wire import landlock

#: The module of the process: nobody imports it.
_SERVER = "judge.bench.oracle.server"
#: The process writes this to its standard output once the GPU is open.
OPENED = b"1"
#: How long a spare may take to come up, in seconds. After so many failures none is started any more.
_START_S, _MOST_FAILURES = 20.0, 3
_POLL_S = 0.01


class OracleProcess:
    """A process that opens the GPU numbered ``ordinal`` and then waits for messages.

    The calling thread must outlive it. CuPy keeps what it compiles in ``folder`` until ``Begin`` names another. Raises
    OSError.
    """

    def __init__(self, ordinal: int, folder: Path) -> None:
        self._lock = threading.Lock()
        self.channel, theirs = socket.socketpair()
        home = Path(__file__).resolve().parents[3]
        paths = [str(home), *(entry for entry in sys.path if entry and Path(entry).is_absolute())]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            # CuPy reads it once: the process changes to the folder that it means.
            "CUPY_CACHE_DIR": ".",
            "CUDA_CACHE_DISABLE": "1",
        }
        if not landlock.version():
            # It may write no file at all.
            environment["CUPY_CACHE_IN_MEMORY"] = "1"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-B", "-m", _SERVER, str(theirs.fileno()), str(ordinal)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=folder,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError:
            self.channel.close()
            raise
        finally:
            theirs.close()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def has_answer(self, within_s: float = 0.0) -> bool:
        """Returns whether an answer, or its end, can be received within this time."""
        return bool(select.select([self.channel], [], [], within_s)[0])

    def wait_until_open(self) -> bool:
        """Returns whether the GPU is open, once that is known. Another thread may close the process meanwhile."""
        until = time.monotonic() + _START_S
        while time.monotonic() < until:
            with self._lock:
                said = self.process.stdout
                assert said is not None
                if said.closed:
                    return False
                if select.select([said], [], [], 0.0)[0]:
                    return said.read(1) == OPENED
            time.sleep(_POLL_S)
        return False

    def close(self) -> None:
        """Ends the process. Idempotent."""
        self.channel.close()
        self.process.kill()
        self.process.wait()
        with self._lock:
            assert self.process.stdout is not None
            self.process.stdout.close()


class SpareProcess:
    """Keeps one process ready on the GPU numbered ``ordinal``; :func:`take_spare` finds it.

    ``folder`` is CuPy's until a pack is known. Safe with any number of threads; the one that calls ``start`` must
    outlive the processes.
    """

    def __init__(self, ordinal: int, folder: Path) -> None:
        self._ordinal = ordinal
        self._folder = folder
        self._lock = threading.Lock()
        self._ready: OracleProcess | None = None
        self._starting: OracleProcess | None = None
        self._failures = 0
        _spares[ordinal] = self

    @property
    def missing(self) -> bool:
        """Whether ``start`` would start one."""
        ready = self._ready
        return (ready is None or not ready.alive) and self._failures < _MOST_FAILURES

    def start(self) -> None:
        """Starts a process, which can be taken at once and comes up in the background."""
        self.close()
        self._starting = None
        try:
            process = OracleProcess(self._ordinal, self._folder)
        except OSError:
            self._failures += 1
            return
        with self._lock:
            self._ready = self._starting = process

    def wait(self) -> None:
        """Returns once the started process is up or failed."""
        process, self._starting = self._starting, None
        if process is None:
            return
        if process.wait_until_open():
            self._failures = 0
            return
        self._failures += 1
        with self._lock:
            left = self._ready is process
            self._ready = None if left else self._ready
        if left:
            process.close()

    def take(self) -> OracleProcess | None:
        """Returns the process, which then belongs to the caller, or None if there is none that is alive."""
        with self._lock:
            ready, self._ready = self._ready, None
        if ready is not None and not ready.alive:
            ready.close()
            return None
        return ready

    def close(self) -> None:
        """Ends the process that nobody took."""
        left = self.take()
        if left is not None:
            left.close()


#: By the GPU's number.
_spares: dict[int, SpareProcess] = {}


def take_spare(ordinal: int) -> OracleProcess | None:
    """Returns the spare process of this GPU, up or about to be, which then belongs to the caller; None without one."""
    spare = _spares.get(ordinal)
    return None if spare is None else spare.take()
