"""Connects commands to their server's API."""

from __future__ import annotations

from cli.api import Api
from cli.config import resolve_server, resolve_token


def connect(server: str | None) -> Api:
    """Returns the API of the resolved server, with its token. Sends nothing yet."""
    resolved = resolve_server(server)
    return Api(resolved, resolve_token(resolved))
