"""Kills processes below this one, as somebody outside the judge might."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from cli.supervise import descendants


class Killer:
    """Sends SIGKILL to ``times`` processes among those that ``find_victims`` returns, each time it looks."""

    def __init__(
        self, find_victims: Callable[[], Iterable[int]], times: int, *, delay_s: float = 0, pause_s: float = 0.01
    ) -> None:
        self._find_victims = find_victims
        self._times = times
        self._delay_s = delay_s
        self._pause_s = pause_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._kill, daemon=True)
        self.killed = 0

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _kill(self) -> None:
        done: set[int] = set()
        while not self._over.wait(self._pause_s):
            for victim in set(self._find_victims()) - done:
                if self.killed == self._times or self._over.wait(self._delay_s):
                    return
                try:
                    os.kill(victim, signal.SIGKILL)
                except ProcessLookupError:
                    continue
                done.add(victim)
                self.killed += 1


def named(name: str) -> list[int]:
    """Returns the processes below this one that have this name."""
    return [pid for pid in descendants(os.getpid()) if _read(pid, "comm").strip() == name.encode()]


def runner_jails() -> list[list[int]]:
    """Returns the processes of each jail of this one's in which a runner has started, the outermost first."""
    chains = [[root, *descendants(root)] for root in _children(os.getpid())]
    # Where the innermost is the runner itself, the jail is up and a call is under way soon.
    return [chain for chain in chains if len(chain) > 3 and b"judge.runner.parent" in _read(chain[3], "cmdline")]


def _children(pid: int) -> list[int]:
    threads = [thread.name for thread in Path(f"/proc/{pid}/task").iterdir()]
    return [int(child) for thread in threads for child in _read(pid, f"task/{thread}/children").split()]


def _read(pid: int, name: str) -> bytes:
    """Returns nothing where the process, or the thread, has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
