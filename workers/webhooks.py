"""Sends the messages of ``store.operation.webhooks``: one POST each, only to public addresses by default.

The name is resolved once, and the connection goes to the address that was looked at: a name that answers otherwise the
next time leads nowhere else. Redirects are not followed, and no proxy is used.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import structlog
from sqlalchemy.exc import SQLAlchemyError

from store.operation.webhooks import Message, claim_messages, finish_message
from store.people.addresses import addresses_of, is_public
from workers.context import WorkerContext

log = structlog.get_logger(__name__)

#: For each reading and writing, and for a message as a whole: who answers byte by byte holds up the others no longer.
TIMEOUT_S, DEADLINE_S = 5.0, 15.0
#: The number of messages that are sent, one after the other, before the outbox is read again.
_BATCH = 10


class RefusedError(Exception):
    """Raised where a message must not be sent, or was not accepted; the message is shown to the contest's owner."""


def send_due(context: WorkerContext) -> int:
    """Sends the messages that are due. Returns how many were tried. Raises SQLAlchemyError."""
    tried = 0
    while not context.stopping.is_set():
        with context.sessions.begin() as session:
            claimed = claim_messages(session, now=context.clock(), limit=_BATCH)
        for message in claimed:
            problem = None
            try:
                send(message, private=context.settings.webhook_private)
            except RefusedError as error:
                problem = str(error)
                log.warning("webhook.refused", url=message.url, problem=problem)
            with context.sessions.begin() as session:
                finish_message(session, message, problem)
        tried += len(claimed)
        if len(claimed) < _BATCH:
            break
    return tried


def send_for_ever(context: WorkerContext) -> None:
    """Sends webhooks that are due until the process is stopped. Logs database errors and goes on."""
    while not context.stopping.wait(context.settings.sweep_s):
        try:
            send_due(context)
        except SQLAlchemyError as error:
            log.warning("database.away", error=str(error))


def start_sending(context: WorkerContext) -> threading.Thread:
    """Starts a thread that sends: an address that does not answer holds up no sweep."""
    thread = threading.Thread(target=send_for_ever, args=(context,), name="webhooks", daemon=True)
    thread.start()
    return thread


def sign(secret: str, body: bytes) -> str:
    """Returns the value of ``X-Gpujudge-Signature``: HMAC-SHA-256 of the body with the contest's secret."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def send(message: Message, *, private: bool) -> None:
    """Sends a message. Raises RefusedError."""
    parts = urlsplit(message.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RefusedError("the address does not begin with http:// or https://")
    body = message.body.encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "gpujudge",
        "X-Gpujudge-Event": message.event,
        "X-Gpujudge-Delivery": str(message.id),
        "X-Gpujudge-Signature": sign(message.secret, body),
    }
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        connection = _connect(parts.scheme, parts.hostname, port, _resolve(parts.hostname, port, private=private))
        with contextlib.closing(connection), _deadline(connection):
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body, headers)
            status = connection.getresponse().status
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise RefusedError(f"{type(error).__name__}: {error}") from None
    if not 200 <= status < 300:
        raise RefusedError(f"it answered {status}")


@contextlib.contextmanager
def _deadline(connection: http.client.HTTPConnection) -> Iterator[None]:
    """Ends the connection at the deadline, which fails whatever waits for it."""

    def end() -> None:
        if connection.sock is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(DEADLINE_S, end)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _resolve(host: str, port: int, *, private: bool) -> str:
    """Returns the address to connect to. Raises RefusedError if any address of the name is not public."""
    found = addresses_of(host, port)
    if not private and not all(map(is_public, found)):
        raise RefusedError(f"{host} is not on the public internet")
    return found[0]


def _connect(scheme: str, host: str, port: int, address: str) -> http.client.HTTPConnection:
    """Returns a connection to the address, which goes by the name of the host."""
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    made = socket.create_connection((address, port), timeout=TIMEOUT_S)
    try:
        connection.sock = (
            ssl.create_default_context().wrap_socket(made, server_hostname=host) if scheme == "https" else made
        )
    except BaseException:
        made.close()
        raise
    return connection
