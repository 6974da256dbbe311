"""The API of the server that a command talks to."""

from __future__ import annotations

from cli.api import Api
from cli.config import resolve_server, resolve_token


def connect(server: str | None) -> Api:
    """Of ``--server``, or of the environment, or of the log-in. Nothing is sent yet."""
    resolved = resolve_server(server)
    return Api(resolved, resolve_token(resolved))
