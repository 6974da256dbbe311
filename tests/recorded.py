"""Cases that need not run again while the engine and the files that they read are the same.

A test marked ``recorded("tests/adversarial", "challenges/gemm")`` depends on the engine (``judge.verify.ledger``), its
own file, and the files and folders that the marker names. The engine leaves out what only GPUs run: a case that uses it
names it. A case that passes is kept with the digest of all that in ``.cache/passed``, which git ignores. CI's second
stage leaves out what is there; its first stage still draws a share of such cases, and ``make test-all`` runs them all.
A session goes by what was there when it began. A process of xdist that takes the place of one that crashed must collect
the very tests that the others did: xdist names them by their places in the list.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.builds import ROOT

#: Environment variable: 1 writes what passes to the record.
WRITE = "GPUJUDGE_TEST_RECORD"


class Record:
    """A record that is committed: SHA-256 by name."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}

    def has(self, name: str, *parts: str) -> bool:
        """Returns whether the case passed with just these parts."""
        return self._known.get(name) == _digest_of(parts)

    def keep(self, name: str, *parts: str) -> None:
        """Writes that the case passed with these parts, where the environment asks for it."""
        if os.environ.get(WRITE) != "1":
            return
        with self._file.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            known = json.loads(file.read() or "{}")
            known[name] = _digest_of(parts)
            file.truncate(0)
            file.write(json.dumps(dict(sorted(known.items())), indent=1) + "\n")


#: A line for each case that passed: what it depends on, and its name.
_PASSED = ROOT / ".cache" / "passed"


#: What xdist's processes are given: how many bytes of it there were when the session began.
_PASSED_BYTES = "passed_bytes"

_passed_bytes: int | None = None


def configure(config: pytest.Config) -> None:
    """Decides what the session goes by: what is on record now, or was when the session of xdist began."""
    global _passed_bytes
    now = _PASSED.stat().st_size if _PASSED.exists() else 0
    _passed_bytes = getattr(config, "workerinput", {}).get(_PASSED_BYTES, now)


def configure_process(given: dict[str, Any]) -> None:
    """Hands down to a process of xdist what the session goes by."""
    given[_PASSED_BYTES] = _passed_bytes


@functools.cache
def _passed() -> frozenset[str]:
    if not _PASSED.exists():
        return frozenset()
    return frozenset(_PASSED.read_bytes()[:_passed_bytes].decode().splitlines())


def mark_known(items: Iterable[pytest.Item]) -> None:
    """Marks those ``on_record`` that passed with what they depend on as it is now."""
    for item in items:
        if (parts := _depends_on(item)) is not None and _line(item, parts) in _passed():
            item.add_marker("on_record")


def keep_passed(item: pytest.Item, report: pytest.TestReport) -> None:
    """Keeps a case that has passed."""
    if report.when != "call" or not report.passed or hasattr(report, "wasxfail"):
        return
    if (parts := _depends_on(item)) is not None and (line := _line(item, parts)) not in _passed():
        _PASSED.parent.mkdir(exist_ok=True)
        with _PASSED.open("a") as file:  # appended at once, whichever process does it
            file.write(line + "\n")


def _line(item: pytest.Item, parts: tuple[str, ...]) -> str:
    return f"{_digest_of(parts)} {item.nodeid}"


def _depends_on(item: pytest.Item) -> tuple[str, ...] | None:
    marker = item.get_closest_marker("recorded")
    if marker is None:
        return None
    own = str(item.path.relative_to(ROOT))
    return _engine(), *(_digest(path) for path in (own, *marker.args))


@functools.cache
def _engine() -> str:
    from judge.verify.ledger import engine_digest

    return engine_digest()


def _digest_of(parts: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@functools.cache
def _digest(path: str) -> str:
    """Returns the digest of a file, or of a folder's files with their names."""
    top = ROOT / path
    files = [top] if top.is_file() else sorted(each for each in top.rglob("*") if each.is_file())
    assert files, f"recorded: {path} is not a file or folder of the repository"
    whole = hashlib.sha256()
    for file in files:
        if "__pycache__" not in file.parts:
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            whole.update(f"{file.relative_to(ROOT)} {content}\n".encode())
    return whole.hexdigest()
