"""Requests and live streams through the ASGI application, as a server calls it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.web_site import KERNEL, Site, accepted, make_site, post
from web.serving import asgi
from web.serving.asgi import Server
from web.settings import REQUEST_BYTES

Message = dict[str, Any]


class Client:
    """One connection: ``send`` what the client sends, and read what has been ``received``."""

    def __init__(self, server: Server, method: str, path: str, headers: dict[str, str]) -> None:
        scope: Message = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            "server": ("localhost", 80), "client": ("127.0.0.1", 5),
        }  # fmt: skip
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        self.received: asyncio.Queue[Message] = asyncio.Queue()
        self.task = asyncio.ensure_future(server(scope, self.sent.get, self.received.put))

    def send_body(self, *parts: bytes) -> None:
        for number, part in enumerate(parts, 1):
            self.sent.put_nowait({"type": "http.request", "body": part, "more_body": number < len(parts)})

    async def head(self) -> Message:
        return await self.received.get()

    async def body(self) -> bytes:
        """All of the answer's body."""
        whole = b""
        while (message := await self.received.get()).get("more_body"):
            whole += message["body"]
        return whole + bytes(message.get("body", b""))

    async def until(self, text: bytes) -> bytes:
        """The answer's body until ``text`` has come."""
        read = b""
        while text not in read:
            read += (await self.received.get())["body"]
        return read


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def site(request: pytest.FixtureRequest, data_dir: Path) -> Iterable[Site]:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    site = make_site(data_dir, database_url=url)
    site.add_device()
    yield site
    # It may hold a connection a moment longer than the last stream.
    if (thread := site.services.event_watcher.thread) is not None:
        thread.join(30)
    site.services.engine.dispose()


def _submit(site: Site) -> tuple[str, dict[str, str]]:
    """Returns the public id of a new submission, and the headers of a client who may follow it."""
    page, client = "/challenges/vector-add", site.visitor()
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    answer = post(client, f"{page}/submissions", data, page=page, headers={"Accept": "application/json"})
    cookie = client.get_cookie("gpujudge")
    assert cookie is not None
    return str(answer.get_json()["id"]), {"Cookie": f"gpujudge={cookie.value}", "Accept": "text/event-stream"}


def _run(test: Callable[[], Awaitable[None]]) -> None:
    # In a thread of its own: a browser in the tests before may have left a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(test())).result()  # type: ignore[arg-type]


def test_a_page_and_its_status(site: Site) -> None:
    async def test() -> None:
        client = Client(Server(site.app, 4), "GET", "/healthz", {})
        client.send_body(b"")
        assert (await client.head())["status"] == 200
        assert await client.body() == b'{"status":"ok"}\n'
        await client.task

    _run(test)


def test_a_stream_is_followed_to_its_end_without_a_thread(site: Site) -> None:
    public_id, headers = _submit(site)

    async def test() -> None:
        server = Server(site.app, 1)
        client = Client(server, "GET", f"/submissions/{public_id}/events", headers)
        client.send_body(b"")
        head = await client.head()
        assert head["status"] == 200
        assert (b"content-type", b"text/event-stream") in [
            (name, value.split(b";")[0]) for name, value in head["headers"]
        ]
        assert b"event: queued" in await client.until(b"event: position")
        # The only thread is free.
        page = Client(server, "GET", "/healthz", {})
        page.send_body(b"")
        assert (await page.head())["status"] == 200
        await asyncio.to_thread(site.work, cases=accepted("a"))
        told = await client.body()
        assert [line for line in told.splitlines() if line.startswith(b"event: ")][-2:] == [
            b"event: done",
            b"event: end",
        ]
        await client.task
        assert site.services.streams.open == 0

    _run(test)


def test_a_move_in_the_queue_is_told(site: Site) -> None:
    _submit(site)
    public_id, headers = _submit(site)

    async def test() -> None:
        client = Client(Server(site.app, 1), "GET", f"/submissions/{public_id}/events", headers)
        client.send_body(b"")
        await client.head()
        await client.until(b'"position":2')
        await asyncio.to_thread(site.work, cases=accepted("a"))
        await client.until(b'"position":1')
        client.sent.put_nowait({"type": "http.disconnect"})
        await client.task

    _run(test)


def test_a_client_who_leaves_frees_the_stream(site: Site) -> None:
    public_id, headers = _submit(site)

    async def test() -> None:
        client = Client(Server(site.app, 1), "GET", f"/submissions/{public_id}/events", headers)
        client.send_body(b"")
        await client.head()
        await client.until(b"event: queued")
        assert site.services.streams.open == 1
        client.sent.put_nowait({"type": "http.disconnect"})
        await client.task
        assert site.services.streams.open == 0

    _run(test)


def test_a_server_that_stops_frees_the_stream(site: Site) -> None:
    public_id, headers = _submit(site)

    async def test() -> None:
        client = Client(Server(site.app, 1), "GET", f"/submissions/{public_id}/events", headers)
        client.send_body(b"")
        await client.head()
        await client.until(b"event: queued")
        client.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await client.task
        assert site.services.streams.open == 0

    _run(test)


def test_a_body_that_does_not_arrive_holds_no_thread_and_ends(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "BODY_S", 0.01)

    async def test() -> None:
        client = Client(Server(site.app, 1), "POST", "/api/v1/submissions", {"Content-Length": "100"})
        client.sent.put_nowait({"type": "http.request", "body": b"{", "more_body": True})
        assert (await client.head())["status"] == 408
        await client.task

    _run(test)


def test_a_body_without_a_length_is_read_and_one_too_large_is_refused(site: Site) -> None:
    async def test() -> None:
        # The small one lacks the form's token.
        for part, status in ((b"username=ada", 400), (b"x" * REQUEST_BYTES, 413)):
            headers = {"Content-Type": "application/x-www-form-urlencoded", "Transfer-Encoding": "chunked"}
            client = Client(Server(site.app, 1), "POST", "/account/log-in", headers)
            client.send_body(part, part)
            assert (await client.head())["status"] == status
            await client.task

    _run(test)
