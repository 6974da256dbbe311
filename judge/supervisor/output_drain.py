"""Drains what a runner prints, so that it never blocks, and notices when it prints too much."""

from __future__ import annotations

import os
import select
import threading


class OutputDrain:
    """Reads a pipe to its end in a thread. Keeps the first ``limit`` bytes and sets ``flooded`` if there are more."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._taken = 0
        self._lock = threading.Lock()
        self._read_fd, self.write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        self.flooded = threading.Event()
        self._thread = threading.Thread(target=self._drain, name="runner-output", daemon=True)
        self._thread.start()

    def release_writer(self) -> None:
        """Closes this process's copy of the write end, once the runner has its own."""
        if self.write_fd >= 0:
            os.close(self.write_fd)
            self.write_fd = -1

    def take(self) -> str:
        """Returns the kept output since the last call, as ``finish`` does: all that was printed before this call."""
        with self._lock:
            if self._read_fd >= 0:
                self._read()
            found, self._taken = self._kept[self._taken :], len(self._kept)
        return _printable(bytes(found))

    def finish(self, timeout_s: float = 1.0) -> str:
        """Returns the kept output as text without control characters. Call it after the runner has ended."""
        self.release_writer()
        self._thread.join(timeout_s)
        return _printable(bytes(self._kept))

    def _drain(self) -> None:
        poll = select.poll()
        poll.register(self._read_fd, select.POLLIN)
        is_open = True
        while is_open:
            poll.poll()
            with self._lock:
                is_open = self._read()
        with self._lock:
            os.close(self._read_fd)
            self._read_fd = -1

    def _read(self) -> bool:
        """Reads all that the pipe holds. Returns False at its end."""
        while True:
            try:
                piece = os.read(self._read_fd, 1 << 16)
            except BlockingIOError:
                return True
            if not piece:
                return False
            room = self._limit - len(self._kept)
            if len(piece) > room:
                self.flooded.set()
            self._kept += piece[: max(0, room)]


def _printable(data: bytes) -> str:
    decoded = data.decode("utf-8", "replace")
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in decoded)
