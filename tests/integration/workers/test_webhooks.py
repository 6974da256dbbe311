"""Contests send webhooks to their owner's address: signed, once, again after a failure, and never to a private one."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sqlalchemy import select

from store.models import Contest, WebhookMessage
from store.operation.webhooks import MOST_ATTEMPTS, claim_messages, record_moments
from store.people.accounts import find_user
from store.settings import Settings
from store.teaching import contests
from tests.web_site import H200, KERNEL, Site, accepted, make_site, post, timed, wrong
from workers.context import WorkerContext, make_context
from workers.webhooks import is_public, send_due

CHALLENGE = "/challenges/vector-add"
SECRET = "the key"


class Receiver:
    """A server that keeps what it is sent; it answers with ``status``."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.status = 204
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((dict(self.headers), body))
                self.send_response(receiver.status)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?to=us"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture
def site(tmp_path: Path, receiver: Receiver) -> Site:
    """A site whose contest has begun an hour ago and tells the receiver; ada takes part."""
    site = make_site(tmp_path)
    site.add_device(H200)
    ada, now = site.add_user("ada"), site.services.clock()
    with site.database() as session:
        contest = Contest(
            slug="friday",
            title="Friday",
            description="",
            starts_at=now - timedelta(hours=1),
            ends_at=now + timedelta(hours=1),
            frozen_at=now + timedelta(minutes=30),
            scoring="points",
            devices=H200.key,
            created_at=now,
            webhook_url=receiver.url,
            webhook_secret=SECRET,
        )
        contests.set_challenges(contest, ["vector-add"])
        session.add(contest)
        session.flush()
        contests.join(session, contest, user_id=ada.id, now=now)
    return site


def context_of(site: Site, *, private: bool = True, later: timedelta = timedelta(0)) -> WorkerContext:
    settings = Settings(data_dir=site.services.settings.data_dir, webhook_private=private)
    return dataclasses.replace(make_context(settings), clock=lambda: site.services.clock() + later)


def enter(site: Site, username: str, *, right: bool = True) -> str:
    data = {"source": KERNEL, "device": H200.key, "mode": "submit"}
    sent = post(site.visitor(username), f"{CHALLENGE}/submissions", data, page=CHALLENGE)
    if right:
        site.work(device=H200, cases=accepted("n-1"), measurement=timed())
    else:
        site.work(device=H200, cases=(wrong(),))
    return str(sent.location).rsplit("/", 1)[1]


def messages(site: Site) -> list[WebhookMessage]:
    with site.database() as session:
        return list(session.scalars(select(WebhookMessage).order_by(WebhookMessage.id)))


def test_what_happens_is_told_once_and_signed(site: Site, receiver: Receiver) -> None:
    public_id = enter(site, "ada")
    enter(site, "ada", right=False)
    enter(site, "bob")  # takes no part
    for _ in range(2):
        with site.database() as session:
            record_moments(session, now=site.services.clock())
        send_due(context_of(site))
    told = {headers["X-Gpujudge-Event"]: json.loads(body) for headers, body in receiver.got}
    assert len(receiver.got) == len(told) == 2
    assert told["started"]["contest"] == "friday"
    assert (told["accepted"]["submission"], told["accepted"]["user"]) == (public_id, "ada")
    assert told["accepted"]["value"] == timed().value
    for headers, body in receiver.got:
        signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        assert headers["X-Gpujudge-Signature"] == f"sha256={signature}"
    with site.database() as session:
        record_moments(session, now=site.services.clock() + timedelta(hours=2))
    send_due(context_of(site, later=timedelta(hours=3)))
    assert [headers["X-Gpujudge-Event"] for headers, _ in receiver.got[2:]] == ["frozen", "ended"]


@pytest.mark.parametrize("status", [500, 302])
def test_what_is_not_accepted_is_sent_again_later(site: Site, receiver: Receiver, status: int) -> None:
    receiver.status = status
    enter(site, "ada")
    send_due(context_of(site))
    send_due(context_of(site))
    assert len(receiver.got) == 1  # the next attempt is due later, and no redirect was followed
    [message] = messages(site)
    assert message.outcome == f"it answered {status}"
    with site.database() as session:
        [claimed] = claim_messages(session, now=site.services.clock() + timedelta(minutes=1), limit=10)
    assert claimed.id == message.id


def test_a_message_is_given_up_in_the_end(site: Site) -> None:
    enter(site, "ada")
    now = site.services.clock()
    for attempt in range(1, MOST_ATTEMPTS + 2):
        with site.database() as session:
            claimed = claim_messages(session, now=now + timedelta(days=attempt), limit=10)
        assert len(claimed) == (attempt <= MOST_ATTEMPTS)


def test_a_private_address_is_refused(site: Site, receiver: Receiver) -> None:
    enter(site, "ada")
    send_due(context_of(site, private=False))
    assert receiver.got == []
    assert "not on the public internet" in messages(site)[0].outcome


def test_nobody_who_answers_is_told_to_the_owner(site: Site, receiver: Receiver) -> None:
    receiver.server.shutdown()
    receiver.server.server_close()
    enter(site, "ada")
    send_due(context_of(site))
    assert "ConnectionRefusedError" in messages(site)[0].outcome


def test_who_answers_byte_by_byte_is_left_at_the_deadline(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.webhooks.DEADLINE_S", 0.5)
    left = threading.Event()

    def trickle(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            while not left.wait(0.05):
                connection.sendall(b"H")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=trickle, args=(listener,))
        thread.start()
        with site.database() as session:
            contest = session.scalars(select(Contest)).one()
            contest.webhook_url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        enter(site, "ada")
        send_due(context_of(site))
        left.set()
        thread.join()
    assert messages(site)[0].outcome not in ("", "accepted")


def test_a_contest_without_an_address_stores_nothing(site: Site) -> None:
    with site.database() as session:
        session.scalars(select(Contest)).one().webhook_url = None
    enter(site, "ada")
    with site.database() as session:
        record_moments(session, now=site.services.clock())
        assert find_user(session, "ada") is not None
    assert messages(site) == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True), ("2606:4700::1111", True), ("127.0.0.1", False), ("10.1.2.3", False),
        ("169.254.169.254", False), ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False), ("::1", False),
        ("fe80::1%eth0", False), ("fd00::1", False), ("::ffff:127.0.0.1", False), ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
    ],
)  # fmt: skip
def test_what_is_public(address: str, public: bool) -> None:
    assert is_public(address) is public
