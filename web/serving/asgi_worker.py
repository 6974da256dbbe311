"""gunicorn's ASGI worker, with limits of time for clients that send or read slowly.

gunicorn bounds how long an idle connection stays open, but neither how long the first request's headers may take nor
how long a client may leave an answer unread. ``web.serving.asgi`` bounds bodies.
"""

from __future__ import annotations

import asyncio
from typing import Any

from gunicorn.asgi.protocol import ASGIProtocol  # type: ignore[import-untyped]
from gunicorn.workers import gasgi  # type: ignore[import-untyped]

from store.start import importing

#: A new connection has sent all headers of its first request within this time; later ones within ``keepalive``.
HEADERS_S = 10.0
#: A client that leaves an answer waiting reads some 50 KB of it within this time.
READ_S = 60.0


class PatientProtocol(ASGIProtocol):  # type: ignore[misc]
    """One connection, which ends if its client is too slow."""

    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """See ``asyncio.Protocol``."""
        super().connection_made(transport)
        self.worker.loop.call_later(HEADERS_S, self._end_without_headers)

    def pause_writing(self) -> None:
        """See ``asyncio.Protocol``: the client reads more slowly than the server writes."""
        super().pause_writing()
        self._unread = self.worker.loop.call_later(READ_S, self.transport.abort)

    def resume_writing(self) -> None:
        """See ``asyncio.Protocol``."""
        self._forget()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """See ``asyncio.Protocol``."""
        self._forget()
        super().connection_lost(exc)

    def _end_without_headers(self) -> None:
        if self.req_count <= 1 and self._awaiting_request:
            self.transport.abort()

    def _forget(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


class Worker(gasgi.ASGIWorker):  # type: ignore[misc]
    """The worker class that ``web.serving.gunicorn_conf`` names."""

    def load_wsgi(self) -> None:
        """Imports and makes the application."""
        with importing():
            super().load_wsgi()

    async def _serve(self) -> None:
        # gunicorn has no setting for the class of connections: its worker finds it under this name.
        gasgi.ASGIProtocol = PatientProtocol
        await super()._serve()
