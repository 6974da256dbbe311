"""Authentication of API requests by ``Authorization: Bearer``. Cookies are ignored, which rules out CSRF."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from flask import g, request

from store.accounts import find_token, token_use_is_stale, touch_token
from web.accounts.visitor import Visitor
from web.problems import Problem
from web.services import reader, services, transaction

P = ParamSpec("P")
R = TypeVar("R")


def token_required(view: Callable[P, R]) -> Callable[P, R]:
    """Rejects requests without a valid token, before their body or query is parsed."""

    @functools.wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        g.api_visitor = _visitor_of_token()
        return view(*args, **kwargs)

    return guarded


def api_visitor() -> Visitor:
    """Returns the token's owner. Call it only in views behind ``token_required``."""
    visitor: Visitor = g.api_visitor
    return visitor


def _visitor_of_token() -> Visitor:
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if not text or scheme.casefold() != "bearer":
        raise Problem(401, "unauthorized", "Send an API token: Authorization: Bearer <token>.")
    token = find_token(reader(), text.strip())
    if token is None:
        raise Problem(401, "unauthorized", "This API token is not valid. It may have been revoked.")
    now = services().clock()
    # Decided from the row just read: a write transaction starts only when there is something to write.
    if token_use_is_stale(token, now):
        with transaction() as writer:
            touch_token(writer, token, now=now)
    return Visitor.of(token.user)
