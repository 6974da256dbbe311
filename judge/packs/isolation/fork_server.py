"""Starts the process that packs' processes are forked from (``server``) and commands it.

Light to import: it may start before the rest of the judge is there.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from judge.packs.isolation.control import ANSWER, COMMAND, END, FORK, SERVER

_START_S = 30.0
#: What these processes get of the environment: settings, among them passwords, are not for the code of packs.
_KEPT = frozenset({"PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH"})


class ForkServer:
    """The process that packs' processes are forked from. It loads the native ``library`` if there is one."""

    def __init__(self, library: Path | None) -> None:
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-S", "-s", "-B", "-m", SERVER, str(theirs.fileno())]
        if library is not None:
            command.append(str(library))
        home = Path(__file__).resolve().parents[3]
        paths = [str(home), *(entry for entry in sys.path if entry and Path(entry).is_absolute())]
        environment = {name: value for name, value in os.environ.items() if name in _KEPT} | {
            "PYTHONPATH": os.pathsep.join(paths),
            # One thread until it forks: a fork copies only one.
            "OPENBLAS_NUM_THREADS": "1",
            # Later, threads that wait for a matrix product sleep: a busy loop would take a processor from the runner.
            "OPENBLAS_THREAD_TIMEOUT": "4",
        }
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment,
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        finally:
            theirs.close()
        self._control.settimeout(_START_S)

    def fork(self, channel: socket.socket) -> int:
        """Starts a process that serves ``channel``, and returns its number. Raises OSError."""
        with self._lock:
            socket.send_fds(self._control, [COMMAND.pack(FORK, 0)], [channel.fileno()])
            return self._answer()

    def end(self, pid: int) -> int:
        """Ends a process and returns its exit status. Raises OSError."""
        with self._lock:
            self._control.sendall(COMMAND.pack(END, pid))
            return self._answer()

    def close(self) -> None:
        """Ends all processes."""
        self._control.close()
        try:
            self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _answer(self) -> int:
        data = self._control.recv(ANSWER.size, socket.MSG_WAITALL)
        if len(data) < ANSWER.size:
            raise OSError("the process that packs' processes are forked from has ended")
        number: int = ANSWER.unpack(data)[0]
        return number


_early: ForkServer | None = None
_was_taken = False


def start_early() -> None:
    """Starts the process, which comes up while this one imports the rest of the judge. Does nothing later on."""
    global _early
    if _early is None and not _was_taken:
        _early = ForkServer(None)


def take_early() -> ForkServer | None:
    """Returns the server that ``start_early`` has started, which then belongs to the caller."""
    global _early, _was_taken
    taken, _early, _was_taken = _early, None, True
    return taken
