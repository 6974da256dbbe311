"""Slow clients of the server that `gpujudge up` starts: pages are answered meanwhile, and trickled headers end."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.builds import ROOT
from tests.web_server import running_server
from tests.web_site import KERNEL, Site, make_site, post

pytestmark = [pytest.mark.slow(25), pytest.mark.exhaustive(by_file=True)]

#: As many as would fill all threads if any of them took one.
STREAMS, HEADERS, READERS, THREADS = 20, 50, 8, 4
WAIT_S = 60.0


@pytest.fixture
def site(data_dir: Path) -> Site:
    site = make_site(data_dir)
    site.add_device()
    return site


@pytest.fixture
def port(site: Site) -> Iterator[int]:
    """The port of the server, with few threads."""
    with running_server(site.services.settings.data_dir, GPUJUDGE_WEB_THREADS=str(THREADS)) as chosen:
        yield chosen


def _connect(port: int, request: bytes) -> socket.socket:
    connection = socket.socket()
    # Small: what the client does not read stays with the server.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(WAIT_S)
    connection.connect(("127.0.0.1", port))
    connection.sendall(request)
    return connection


def _streams(site: Site, port: int) -> Iterator[socket.socket]:
    """Live streams of two users, whose answers nobody reads after the head."""
    for user in ("ada", "grace"):
        client = site.visitor(user)
        page = "/challenges/vector-add"
        data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
        answer = post(client, f"{page}/submissions", data, page=page, headers={"Accept": "application/json"})
        path = f"/submissions/{answer.get_json()['id']}/events"
        cookie = client.get_cookie("gpujudge")
        assert cookie is not None
        head = f"GET {path} HTTP/1.1\r\nHost: x\r\nCookie: gpujudge={cookie.value}\r\nAccept: text/event-stream\r\n\r\n"
        for _ in range(STREAMS // 2):
            yield _connect(port, head.encode())


def _readers(port: int) -> Iterator[socket.socket]:
    """Clients that ask for more than fits between two machines, and read nothing."""
    largest = max((ROOT / "web/static").rglob("*.js"), key=lambda path: path.stat().st_size)
    path = f"/static/{largest.relative_to(ROOT / 'web/static')}"
    for _ in range(READERS):
        # In one connection several answers: all of them unread.
        yield _connect(port, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 8)


def _trickle(connections: list[socket.socket], stop: threading.Event) -> None:
    """Sends a byte on each connection now and then, until the server closes it."""
    left = list(connections)
    while left and not stop.wait(0.3):
        for connection in list(left):
            try:
                connection.sendall(b"x")
            except OSError:
                left.remove(connection)


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(4096) == b""
    except ConnectionError:
        return True


def test_pages_are_answered_while_many_clients_are_slow_and_headers_end(site: Site, port: int) -> None:
    with contextlib.ExitStack() as stack:
        keep = stack.enter_context
        streams = [keep(one) for one in _streams(site, port)]
        assert all(one.recv(12) == b"HTTP/1.1 200" for one in streams)
        for one in _readers(port):
            keep(one)
        headers = [keep(_connect(port, b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")) for _ in range(HEADERS)]
        body = b"POST /account/log-in HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n"
        bodies = [keep(_connect(port, body)) for _ in range(THREADS)]
        stop = threading.Event()
        trickling = threading.Thread(target=_trickle, args=([*headers, *bodies], stop))
        trickling.start()
        try:
            for path in ("/healthz", "/", "/challenges/vector-add", "/healthz"):
                assert httpx.get(f"http://127.0.0.1:{port}{path}", timeout=WAIT_S).status_code == 200, path
            assert all(_is_closed(one) for one in headers)
            # The streams live on.
            assert not [one for one in streams if select.select([one], [], [], 0)[0] and _is_closed(one)]
            assert httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=WAIT_S).status_code == 200
        finally:
            stop.set()
            trickling.join()
