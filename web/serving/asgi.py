"""Serves the pages and the live streams: an ASGI application around the Flask application.

Flask runs in threads. A request takes one only when all of it has arrived, so slow clients hold none, and a live stream
leaves its thread after the answer's head: one task of the event loop sends its events, however many streams there are.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from a2wsgi import WSGIMiddleware
from flask import Flask

from web.app import create_app_from_env
from web.challenges.uploading import most_bytes
from web.live import HANDED_OVER, STREAM_THREADS, EventStream
from web.services import services_of

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

#: All of a request's body arrives within this time.
BODY_S = 30.0


class Server:
    """The ASGI application. At most ``threads`` requests run in Flask at a time."""

    def __init__(self, app: Flask, threads: int) -> None:
        # The queue takes a whole answer: a thread never waits for a client who reads slowly.
        self._pages = WSGIMiddleware(app.__call__, workers=threads, send_queue_size=0)  # type: ignore[arg-type]
        self._readers = ThreadPoolExecutor(STREAM_THREADS, thread_name_prefix="streams")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answers one request; see the ASGI specification."""
        if scope["type"] != "http":
            await self._pages(scope, receive, send)  # type: ignore[arg-type]
            return
        try:
            async with asyncio.timeout(BODY_S):
                body = await _read_body(receive, most_bytes(scope["method"], scope["path"]))
        except TimeoutError:
            await _answer(send, 408, b"The request took too long to arrive.\n")
            return
        if body is None:
            return
        streams: list[EventStream] = []

        async def send_unless_handed_over(message: Message) -> None:
            if not streams or message["type"] == "http.response.start":
                await send(message)

        inner = {**scope, "headers": _with_length(scope["headers"], len(body)), HANDED_OVER: streams}
        try:
            await self._pages(inner, _replay(body), send_unless_handed_over)  # type: ignore[arg-type]
            for stream in streams:
                await self._serve(stream, receive, send)
        finally:
            for stream in streams:
                stream.take_over()
                stream.close()

    async def _serve(self, stream: EventStream, receive: Receive, send: Send) -> None:
        """Sends a stream's events until it ends or the client is gone."""
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        gone = loop.create_task(_disconnected(receive))
        gone.add_done_callback(lambda _: woken.set())
        stream.on_wake = lambda: _wake(loop, woken)
        try:
            while not gone.done():
                # Cleared before it reads: what comes during the read wakes it afterwards.
                woken.clear()
                frames = await self._advance(stream)
                if frames is None:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(woken.wait(), stream.pause_s)
                elif not gone.done():
                    await send({"type": "http.response.body", "body": frames.encode(), "more_body": True})
        except EOFError:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()

    async def _advance(self, stream: EventStream) -> str | None:
        step = asyncio.get_running_loop().run_in_executor(self._readers, stream.advance)
        try:
            return await asyncio.shield(step)
        finally:
            # Whoever cancels this closes the stream next, and that must not happen while it advances.
            await asyncio.wait([step])


def create_server_from_env() -> Server:
    """Builds the ASGI application for gunicorn, with settings from the environment."""
    app = create_app_from_env()
    return Server(app, services_of(app).settings.threads)


async def _read_body(receive: Receive, most: int) -> bytes | None:
    """Returns the request's body, cut after ``most`` bytes: Flask refuses more. None: the client is gone."""
    body = bytearray()
    is_complete = False
    while not is_complete and len(body) <= most:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        is_complete = not message.get("more_body", False)
    return bytes(body)


def _wake(loop: asyncio.AbstractEventLoop, woken: asyncio.Event) -> None:
    with contextlib.suppress(RuntimeError):  # the server has stopped, and its loop is closed
        loop.call_soon_threadsafe(woken.set)


def _with_length(headers: Iterable[tuple[bytes, bytes]], length: int) -> list[tuple[bytes, bytes]]:
    """Returns a request's headers with the length of what arrived: Flask reads no body of unknown length."""
    framing = (b"content-length", b"transfer-encoding")
    others = [(name, value) for name, value in headers if name not in framing]
    return [*others, (b"content-length", str(length).encode())] if length else others


def _replay(body: bytes) -> Receive:
    """Returns a ``receive`` for a body that has arrived."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        return next(messages, {"type": "http.disconnect"})

    return receive


async def _disconnected(receive: Receive) -> None:
    """Returns when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _answer(send: Send, status: int, text: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text, "more_body": False})
