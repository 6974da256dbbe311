"""Lists the threads of a jail as the kernel shows them in ``/proc``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")


def threads_of(root: int) -> Iterator[Path]:
    """Yields the folder of each thread of a process and of its descendants, such as ``/proc/7/task/8``."""
    processes, seen = [root], {root}
    while processes:
        for thread in _threads_of_one(processes.pop()):
            yield thread
            with contextlib.suppress(OSError, ValueError):
                children = {int(child) for child in (thread / "children").read_text().split()} - seen
                processes += children
                seen |= children


def names_of_threads(root: int) -> set[str]:
    """Returns the names of the threads of a process and of its descendants: they may say anything."""
    names = set()
    for thread in threads_of(root):
        with contextlib.suppress(OSError):
            names.add((thread / "comm").read_text(errors="replace").removesuffix("\n"))
    return names


def _threads_of_one(process: int) -> list[Path]:
    try:
        return list((_PROC / str(process) / "task").iterdir())
    except OSError:
        return []
