"""A file of results, one JSON object a line: written as they come, complete after any end, gone on with later."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from cli.errors import CliError, UsageError


class ResultLines:
    """Appends lines to a file that no other batch writes to meanwhile. ``lines`` are those that were there.

    Without ``resume`` the file must be new or empty. With it, a last line that was cut off is removed. Raises
    UsageError, and CliError for a file that cannot be written.
    """

    def __init__(self, path: Path, *, resume: bool) -> None:
        self.path = path
        self.lines: list[dict[str, Any]] = []
        self._file = self._open(path)
        #: What a full disk has not taken yet.
        self.unwritten: list[bytes] = []
        self.why_unwritten = ""
        try:
            if self._is_regular:
                self._lock()
                self._read(resume=resume)
            elif resume:
                raise UsageError(f"{path} is not a file that --resume could go on with")
        except BaseException:
            self._file.close()
            raise

    def keep(self, wanted: Collection[int]) -> None:
        """Leaves only the lines with these numbers, from 0. After any end of this process they are all there, once."""
        if len(wanted) == len(self.lines):
            return
        self.lines = [line for number, line in enumerate(self.lines) if number in wanted]
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with fresh.open("wb") as file:
                file.write(b"".join(map(_as_line, self.lines)))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise CliError(f"cannot write {self.path}: {error.strerror}") from None
        self._file.close()
        self._file = self._open(self.path)
        self._lock()

    def add(self, line: Mapping[str, Any]) -> None:
        """Writes a line, or keeps it in memory until the disk takes it."""
        self.unwritten.append(_as_line(line))
        self.write_rest()

    def write_rest(self) -> None:
        """Tries to write what could not be written before."""
        while self.unwritten:
            end = os.fstat(self._file.fileno()).st_size if self._is_regular else 0
            try:
                rest = memoryview(self.unwritten[0])
                while rest:
                    rest = rest[os.write(self._file.fileno(), rest) :]
            except BrokenPipeError:
                raise
            except OSError as error:
                self.why_unwritten = error.strerror or str(error)
                if self._is_regular:
                    os.ftruncate(self._file.fileno(), end)
                return
            self.unwritten.pop(0)

    def close(self) -> None:
        """Closes the file; what is in ``unwritten`` is lost."""
        self._file.close()

    @property
    def _is_regular(self) -> bool:
        return stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)

    def _open(self, path: Path) -> BinaryIO:
        try:
            if str(path) == "-":
                return os.fdopen(os.dup(1), "wb", buffering=0)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            return os.fdopen(fd, "r+b", buffering=0)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            problem = f"another batch writes to {self.path}"
            raise UsageError(problem, hint="Wait for it, or name another file.") from None

    def _read(self, *, resume: bool) -> None:
        content = self.path.read_bytes()
        if content and not resume:
            hint = "--resume goes on where it ended; else name another file."
            raise UsageError(f"{self.path} has results already", hint=hint)
        whole, _, cut = content.rpartition(b"\n")
        if cut:
            # Its process was killed while it wrote.
            os.ftruncate(self._file.fileno(), len(content) - len(cut))
        for number, text in enumerate(whole.split(b"\n") if whole else [], 1):
            try:
                line = json.loads(text)
                if not isinstance(line, dict) or "file" not in line:
                    raise ValueError
            except ValueError:
                raise UsageError(f"{self.path} is not a file of results: line {number} is none") from None
            self.lines.append(line)


def _as_line(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"
