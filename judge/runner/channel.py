"""The runner's end of the socket: one request at a time."""

from __future__ import annotations

import os
import select
import time

from judge.wire.frames import Frame, FrameError, Op, pack_frame, split_frame


class Channel:
    """Reads requests from a stream socket, given by its descriptor, and writes replies to it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._buffer = bytearray()
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def receive(self, awake_s: float = 0.0) -> Frame | None:
        """Returns the next request; None when the supervisor has closed the socket. Raises FrameError.

        For the first ``awake_s`` the thread polls instead of sleeping.
        """
        until = time.perf_counter() + awake_s
        while (found := split_frame(self._buffer)) is None:
            while not self._poll.poll(0) and time.perf_counter() < until:
                pass
            piece = os.read(self._fd, 1 << 16)
            if not piece:
                if self._buffer:
                    raise FrameError("the supervisor went in the middle of a frame")
                return None
            self._buffer += piece
        frame, size = found
        del self._buffer[:size]
        return frame

    def reply(self, request: Frame, payload: bytes = b"", *, failed: bool = False) -> None:
        """Answers ``request``."""
        op = request.op | (Op.FAILED if failed else Op.REPLY)
        rest = memoryview(pack_frame(op, request.nonce, payload))
        while rest:
            rest = rest[os.write(self._fd, rest) :]
