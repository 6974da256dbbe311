"""A connection whose client does not read ends, and one whose client reads again does not."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from web.serving.asgi_worker import HEADERS_S, READ_S, PatientProtocol


class Loop:
    """Keeps functions to be called later."""

    def __init__(self) -> None:
        self.later: list[tuple[float, Any, SimpleNamespace]] = []

    def call_later(self, delay_s: float, call: Any) -> SimpleNamespace:
        handle = SimpleNamespace(is_cancelled=False)
        handle.cancel = lambda: setattr(handle, "is_cancelled", True)
        self.later.append((delay_s, call, handle))
        return handle

    def pass_time(self) -> None:
        for _, call, handle in self.later:
            if not handle.is_cancelled:
                call()
        self.later.clear()


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> PatientProtocol:
    base = PatientProtocol.__mro__[1]
    for name in ("connection_made", "pause_writing", "resume_writing", "connection_lost"):
        monkeypatch.setattr(base, name, lambda *_: None)
    made = PatientProtocol.__new__(PatientProtocol)
    made.worker = SimpleNamespace(loop=Loop())
    made.ended = []
    made.transport = SimpleNamespace(abort=lambda: made.ended.append(True))
    made.req_count, made._awaiting_request = 1, True
    return made


def test_headers_that_do_not_come_end_the_connection(connection: PatientProtocol) -> None:
    connection.connection_made(connection.transport)
    assert [delay_s for delay_s, _, _ in connection.worker.loop.later] == [HEADERS_S]
    connection.worker.loop.pass_time()
    assert connection.ended


@pytest.mark.parametrize(("requests", "is_waiting"), [(1, False), (2, True)])
def test_a_request_that_came_does_not(connection: PatientProtocol, requests: int, is_waiting: bool) -> None:
    connection.connection_made(connection.transport)
    connection.req_count, connection._awaiting_request = requests, is_waiting
    connection.worker.loop.pass_time()
    assert not connection.ended


def test_an_answer_that_nobody_reads_ends_the_connection(connection: PatientProtocol) -> None:
    connection.pause_writing()
    connection.resume_writing()
    connection.worker.loop.pass_time()
    assert not connection.ended
    connection.pause_writing()
    assert [delay_s for delay_s, _, _ in connection.worker.loop.later] == [READ_S]
    connection.worker.loop.pass_time()
    assert connection.ended


def test_a_lost_connection_is_not_ended_again(connection: PatientProtocol) -> None:
    connection.pause_writing()
    connection.connection_lost(None)
    connection.worker.loop.pass_time()
    assert not connection.ended


def test_gunicorn_still_finds_the_class_by_that_name() -> None:
    """The worker of gunicorn makes connections by the name that ours replaces.

    The connections know what ours asks them.
    """
    from gunicorn.asgi.protocol import ASGIProtocol
    from gunicorn.workers import gasgi

    assert "ASGIProtocol" in gasgi.ASGIWorker._serve.__code__.co_names or any(
        "ASGIProtocol" in getattr(constant, "co_names", ()) for constant in gasgi.ASGIWorker._serve.__code__.co_consts
    )
    assert issubclass(ASGIProtocol, asyncio.Protocol)
    made = ASGIProtocol.__init__.__code__.co_names
    assert {"req_count", "_awaiting_request", "transport"} <= set(made)
