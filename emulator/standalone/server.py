"""Serves the questions of a program's library over a socket (native/report/remote.h)."""

from __future__ import annotations

import contextlib
import logging
import socket
import struct
import threading
from pathlib import Path

from emulator.runtime.modules import refusal_of
from emulator.standalone.answers import Answers
from emulator.standalone.wire import Writer

_HEAD = struct.Struct("=II")  # kind or code, size of what follows
_LARGEST_QUESTION = (1 << 30) + (1 << 20)

_log = logging.getLogger(__name__)


class Server:
    """Serves from ``start`` to ``close``, each connection on a thread of its own."""

    def __init__(self, path: Path, answers: Answers) -> None:
        self._answers = answers
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen(64)

    def start(self) -> None:
        threading.Thread(target=self._accept, name="emulator-server", daemon=True).start()

    def close(self) -> None:
        # shutdown() ends accept() on the other thread, as close() does not.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), name="emulator-answers", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while (head := _receive(connection, _HEAD.size)) is not None:
                kind, size = _HEAD.unpack(head)
                if size > _LARGEST_QUESTION:
                    return
                content = _receive(connection, size)
                if content is None:
                    return
                connection.sendall(self._answer(kind, content))

    def _answer(self, kind: int, content: bytes) -> bytes:
        try:
            answer, code = self._answers.answer(kind, content), 0
        except Exception as error:
            refusal = refusal_of(error)
            answer, code = Writer().text(refusal.reason).text(refusal.unsupported or "").bytes(), refusal.code
        return _HEAD.pack(code, len(answer)) + answer


def _receive(connection: socket.socket, size: int) -> bytes | None:
    """Returns ``size`` bytes; None when the other side has closed the connection."""
    data = bytearray(size)
    view = memoryview(data)
    while view:
        got = connection.recv_into(view)
        if not got:
            return None
        view = view[got:]
    return bytes(data)
