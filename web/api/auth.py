"""Who asks: an API token in ``Authorization: Bearer``. Cookies do not count here: no other site's page can act."""

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
    """Lets only a valid token through; before anything of the request is looked at."""

    @functools.wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        g.api_visitor = _visitor_of_token()
        return view(*args, **kwargs)

    return guarded


def api_visitor() -> Visitor:
    """Whose token it is, in a view behind ``token_required``."""
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
    # Asked of the row that was read: a transaction for writing is begun only when there is something to write.
    if token_use_is_stale(token, now):
        with transaction() as writer:
            touch_token(writer, token, now=now)
    return Visitor.of(token.user)
