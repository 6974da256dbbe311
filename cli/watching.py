"""Waits until files are saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

#: How often files are looked at.
POLL_S = 0.2


def saves(paths: Sequence[Path], *, pause: Callable[[float], object] = time.sleep) -> Iterator[None]:
    """Yields once at first, and again whenever one of the files has been saved since. Never ends.

    A file that is away counts once it is back: some editors save by replacing it. What is saved while the caller works
    counts, too.
    """
    while True:
        seen = [_state(path) for path in paths]
        yield
        while (now := [_state(path) for path in paths]) == seen or None in now:
            pause(POLL_S)


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
