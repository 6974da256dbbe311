"""The page before the website: what it says, and that the website gets every connection after it."""

from __future__ import annotations

import http.client
import http.server
import socket
import threading
from collections.abc import Iterator

import pytest

from cli.starting_page import LISTENER, StartingPage, listen, take_over


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with listen("127.0.0.1", 0) as made:
        yield made


def _get(listener: socket.socket) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection(*listener.getsockname(), timeout=10)
    try:
        connection.request("GET", "/challenges/vector-add")
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def test_steps_and_how_long_the_rest_takes(listener: socket.socket) -> None:
    clock = Clock()
    page = StartingPage(listener, clock=clock)
    page.step("Reading <challenges>")
    clock.now += 3
    page.step("Preparing emulator")
    clock.now += 20
    assert "left" not in page.text(whole=True)  # nothing is done yet, so nobody knows
    page.progress(0.25)
    text = page.text(whole=True)
    assert '✓ Reading &lt;challenges&gt; <span class="time">3 s</span>' in text
    assert '… Preparing emulator <span class="time">20 s so far, about 60 s left</span>' in text
    assert 'value="0.250"' in text
    assert '<noscript><meta http-equiv="refresh"' in text


def test_a_failure_stays_with_what_to_do(listener: socket.socket) -> None:
    page = StartingPage(listener)
    page.step("Preparing emulator")
    page.fail("no C++ compiler in /home/ada", "sudo apt-get install -y g++")
    text = page.text(whole=True)
    assert "✗ Preparing emulator" in text
    assert "sudo apt-get install -y g++" in text
    assert "refresh" not in text
    assert "<script>" not in text
    # Others than this machine's user learn no paths.
    assert "/home/ada" not in page.text(whole=False)


def test_it_answers_with_503_and_forbids_foreign_scripts(listener: socket.socket) -> None:
    page = StartingPage(listener)
    page.step("Preparing emulator")
    page.start()
    try:
        status, headers, body = _get(listener)
    finally:
        page.stop()
    assert status == 503
    assert headers["X-Gpujudge"] == "starting"
    assert "script-src 'sha256-" in headers["Content-Security-Policy"]
    assert "Preparing emulator" in body


def test_who_asks_in_between_is_answered_by_the_website(listener: socket.socket) -> None:
    page = StartingPage(listener)
    page.start()
    page.stop()
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(_get(listener)[0]))
    asking.start()

    class Website(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    website = http.server.HTTPServer(listener.getsockname(), Website, bind_and_activate=False)
    website.socket.close()
    website.socket = listener
    website.handle_request()
    asking.join(timeout=10)
    assert answers == [204]


def test_a_socket_that_was_left_is_taken_over_once(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    port = listener.getsockname()[1]
    monkeypatch.setenv(LISTENER, str(listener.detach()))
    with take_over(port) or pytest.fail("it was left") as taken:
        assert taken.getsockname()[1] == port
        assert not taken.get_inheritable()
    assert take_over(port) is None


@pytest.mark.parametrize("number", ["", "many", "987654"])
def test_no_such_socket_is_no_socket(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LISTENER, number)
    assert take_over(8000) is None


def test_a_socket_of_another_port_is_closed(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    port = listener.getsockname()[1]
    monkeypatch.setenv(LISTENER, str(listener.detach()))
    assert take_over(port + 1) is None
    listen("127.0.0.1", port).close()
