"""Drains a runner's output, so that the runner never blocks, and notices too much of it."""

from __future__ import annotations

import os
import select
import threading

#: Begins the note behind output that was cut; how much was printed follows.
CUT = "\n… cut here: it printed "
#: More than so many times what is kept is a flood.
_FLOOD = 256
#: So much of the end is kept as well, in bytes: what ended a process says so there.
_TAIL = 4096


class OutputDrain:
    """Reads a pipe to its end in a thread. Keeps the first ``limit`` bytes since the last ``take``, and the last few.

    Sets ``flooded`` once there were ``_FLOOD`` times as many.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._tail = bytearray()
        self._printed = 0
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
        """Returns the kept output since the last call.

        It is all that was printed before this one, with a note if it was cut.
        """
        with self._lock:
            if self._read_fd >= 0:
                self._read()
            note = f"{CUT}{self._printed:,} bytes" if self._printed > len(self._kept) else ""
            found = bytes(self._kept)
            self._kept.clear()
            self._tail.clear()
            self._printed = 0
        return _printable(found) + note

    def finish(self, timeout_s: float = 1.0) -> str:
        """Returns the output kept since the last ``take``, and its end, as text without control characters.

        Call it after the runner has ended.
        """
        self.release_writer()
        self._thread.join(timeout_s)
        return _printable(bytes(self._kept + self._tail))

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
            room = max(0, self._limit - len(self._kept))
            self._kept += piece[:room]
            self._tail = (self._tail + piece[room:])[-_TAIL:]
            self._printed += len(piece)
            if self._printed > _FLOOD * self._limit:
                self.flooded.set()


def _printable(data: bytes) -> str:
    decoded = data.decode("utf-8", "replace")
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in decoded)
