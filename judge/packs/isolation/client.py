"""Starts and keeps the processes of packs. Safe with any number of threads, each of which gets a process of its own."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judge.errors import InternalError
from judge.native import library
from judge.packs.data.committed_array import NotCommittedError
from judge.packs.errors import PackError
from judge.packs.isolation.control import PACK, Call, GivePack
from judge.packs.isolation.fork_server import ForkServer, take_early
from judge.packs.isolation.messages import BadAnswer, receive_answer, send
from records import dataclass

#: Processes that wait for their pack's next call; those that waited longest end first.
_MAX_IDLE = 12
#: How long a process takes to end once its end of the channel is closed.
_ENDING_S = 0.05
#: Characters of what a pack's code says of its failure.
_MAX_REASON = 4000


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one call: fixed ones, and more for each byte of the case's arguments."""

    wall_s: float = 60.0
    wall_s_a_byte: float = 1 / (16 << 20)
    memory_bytes: int = 4 << 30
    memory_bytes_a_byte: int = 12


_LIMITS = Limits()


class ProcessEnded(Exception):
    """A pack's process ended instead of answering, or took too long; ``how`` says which."""

    def __init__(self, how: str) -> None:
        self.how = how
        super().__init__(how)


class _PackProcess:
    """One process of a pack."""

    def __init__(self, forks: ForkServer) -> None:
        self._forks = forks
        self._channel, theirs = socket.socketpair()
        try:
            self._pid = forks.fork(theirs)
        except BaseException:
            self._channel.close()
            raise
        finally:
            theirs.close()
        self._pack: Any = None

    def call(self, pack: Any, call: Call, wall_s: float) -> tuple[str, Any]:
        """Returns the answer. Raises ProcessEnded, after which the process is gone."""
        deadline = time.monotonic() + wall_s
        self._channel.settimeout(wall_s)
        try:
            if self._pack is not pack:
                send(self._channel, GivePack(pack))
                self._pack = pack
            send(self._channel, call, lambda each: PACK if each is pack else None)
            self._channel.settimeout(max(0.01, deadline - time.monotonic()))
            answer = receive_answer(self._channel)
        except TimeoutError:
            self.end()
            raise ProcessEnded(f"takes longer than {wall_s:.0f} s") from None
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise ProcessEnded(_how_it_ended(self.end(soon=True))) from None
        except BadAnswer as error:
            self.end()
            raise ProcessEnded(f"sends what is not an answer ({error})") from None
        except BaseException:
            self.end()
            raise
        if not _is_answer(answer):
            self.end()
            raise ProcessEnded("sends what is not an answer")
        kind, content = answer
        return kind, content

    def end(self, *, soon: bool = False) -> int:
        """Ends the process and returns its exit status. ``soon``: it has closed the channel and is about to end."""
        if soon:
            time.sleep(_ENDING_S)
        self._channel.close()
        return self._forks.end(self._pid)

    def abandon(self) -> None:
        """Leaves the process to its server's end."""
        self._channel.close()


def _is_answer(answer: Any) -> bool:
    """Returns whether it has one of the forms of ``child``."""
    match answer:
        case ("returned", _) | ("not-committed", ()):
            return True
        case ("pack-error" | "raised", (str(), str(), str())):
            return True
    return False


def _how_it_ended(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"ends its process by signal {os.WTERMSIG(status)}"
    return f"ends its process with exit code {os.WEXITSTATUS(status)}"


class PackProcesses:
    """The processes of all packs. Starts what is needed; ``close`` ends everything."""

    def __init__(self, limits: Limits = _LIMITS) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._forks: ForkServer | None = None
        #: By the identity of the pack's Reference; the process used last is last.
        self._idle: OrderedDict[_PackProcess, int] = OrderedDict()

    def start(self) -> None:
        """Starts the slowest steps in the background, so that the first call need not wait for them."""
        with self._lock:
            self._server()

    def call(
        self,
        pack: Any,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        *,
        argument_bytes: int,
        product_threads: int,
    ) -> Any:
        """Calls ``function`` in a process of the pack and returns what it returns.

        Raises PackError, NotCommittedError of an array read there, and InternalError if there can be no process.
        """
        limits = self.limits
        wall_s = limits.wall_s + argument_bytes * limits.wall_s_a_byte
        memory_bytes = limits.memory_bytes + argument_bytes * limits.memory_bytes_a_byte
        process = self._take(pack)
        call = Call(function, arguments, keywords, memory_bytes, product_threads)
        try:
            kind, content = process.call(pack, call, wall_s)
        except ProcessEnded as ended:
            raise PackError(pack.reference.path, "", f"{function.__name__} {ended.how}") from None
        self._keep(pack, process)
        if kind == "returned":
            return content
        if kind == "not-committed":
            raise NotCommittedError
        if kind == "pack-error":
            file, key, reason = content
            raise PackError(Path(file), key, reason[:_MAX_REASON])
        name, message, place = content
        raise PackError(pack.reference.path, place, _what_was_raised(name[:80], message[:_MAX_REASON], memory_bytes))

    def close(self) -> None:
        """Ends all processes; later calls start new ones."""
        with self._lock:
            idle, self._idle = self._idle, OrderedDict()
            forks, self._forks = self._forks, None
        for process in idle:
            process.abandon()
        if forks is not None:
            forks.close()

    def forget(self) -> None:
        """Leaves the processes to the parent, in a forked child."""
        self._lock = threading.Lock()
        self._idle = OrderedDict()
        self._forks = None

    def _server(self) -> ForkServer:
        if self._forks is None:
            self._forks = take_early() or ForkServer(library.loaded_path())
        return self._forks

    def _take(self, pack: Any) -> _PackProcess:
        key = id(pack.reference)
        with self._lock:
            for process in reversed(self._idle):
                if self._idle[process] == key:
                    del self._idle[process]
                    return process
            forks = self._server()
        try:
            return _PackProcess(forks)
        except OSError as error:
            with self._lock:
                if self._forks is forks:
                    self._forks = None
            forks.close()
            raise InternalError(f"no process for the code of a challenge could be started: {error}") from error

    def _keep(self, pack: Any, process: _PackProcess) -> None:
        with self._lock:
            self._idle[process] = id(pack.reference)
            gone: list[_PackProcess] = []
            while len(self._idle) > _MAX_IDLE:
                gone.append(self._idle.popitem(last=False)[0])
        for each in gone:
            each.end()


def _what_was_raised(name: str, message: str, memory_bytes: int) -> str:
    """Returns in plain words what the pack's code did."""
    if name == "SystemExit":
        return f"calls sys.exit({message})"
    if name == "MemoryError":
        return f"takes more memory than the {memory_bytes / 2**30:.0f} GiB that it may ({message or name})"
    if name == "PermissionError":
        return f"raises {name}: {message} (a reference may use neither network nor processes, nor write files)"
    return f"raises {name}: {message}"


#: At the end of this process the kernel closes their channels, and they end by themselves.
PROCESSES = PackProcesses()
os.register_at_fork(after_in_child=PROCESSES.forget)
