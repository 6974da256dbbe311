"""Drains what a runner prints, so that it never blocks, and notices when it prints too much."""

from __future__ import annotations

import os
import threading


class OutputDrain:
    """Reads a pipe to its end in a thread. Keeps the first ``limit`` bytes and sets ``flooded`` if there are more."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._read_fd, self.write_fd = os.pipe()
        self.flooded = threading.Event()
        self._thread = threading.Thread(target=self._drain, name="runner-output", daemon=True)
        self._thread.start()

    def release_writer(self) -> None:
        """Closes this process's copy of the write end, once the runner has its own."""
        if self.write_fd >= 0:
            os.close(self.write_fd)
            self.write_fd = -1

    def finish(self, timeout_s: float = 1.0) -> str:
        """Returns the kept output as text without control characters. Call it after the runner has ended."""
        self.release_writer()
        self._thread.join(timeout_s)
        decoded = bytes(self._kept).decode("utf-8", "replace")
        return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in decoded)

    def _drain(self) -> None:
        with os.fdopen(self._read_fd, "rb", buffering=0) as pipe:
            while piece := pipe.read(1 << 16):
                room = self._limit - len(self._kept)
                if len(piece) > room:
                    self.flooded.set()
                self._kept += piece[: max(0, room)]
