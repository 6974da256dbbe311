"""A record of what long tests have judged, by digests of what each depends on, kept in the repository.

A case that is on record has the marker ``on_record``: the second stage of CI leaves it out (``tests.sampling``).
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from pathlib import Path

#: Environment variable: 1 writes what passes to the record.
WRITE = "GPUJUDGE_TEST_RECORD"


class Record:
    """The record in a file: SHA-256 by name."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}

    def has(self, name: str, *parts: str) -> bool:
        """Returns whether the case passed with just these parts."""
        return self._known.get(name) == _digest(parts)

    def keep(self, name: str, *parts: str) -> None:
        """Writes that the case passed with these parts, where the environment asks for it."""
        if os.environ.get(WRITE) != "1":
            return
        with self._file.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            known = json.loads(file.read() or "{}")
            known[name] = _digest(parts)
            file.truncate(0)
            file.write(json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def _digest(parts: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
