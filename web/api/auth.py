"""Authentication of API requests by ``Authorization: Bearer``. Cookies are ignored, which rules out CSRF."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from flask import g, request

from store.models import Role
from store.people.accounts import ADMIN_SCOPE, token_use_is_stale, touch_token
from web.accounts.visitor import Visitor
from web.errors import BEARER
from web.openings import Opening
from web.problems import Problem
from web.services import services, transaction

P = ParamSpec("P")
R = TypeVar("R")


def scope_required(scope: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Rejects requests without a valid token of this scope, before their body or query is parsed."""

    def decorate(view: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            g.api_visitor = _visitor_of_token(scope)
            return view(*args, **kwargs)

        return guarded

    return decorate


def token_welcome(view: Callable[P, R]) -> Callable[P, R]:
    """Lets requests without a token through, as nobody's; one that brings a token needs a valid one."""

    @functools.wraps(view)
    def welcomed(*args: P.args, **kwargs: P.kwargs) -> R:
        g.api_visitor = _visitor_of_token("read") if "Authorization" in request.headers else None
        return view(*args, **kwargs)

    return welcomed


token_required = scope_required("read")
submit_token_required = scope_required("submit")


def admin_token_required(view: Callable[P, R]) -> Callable[P, R]:
    """Rejects requests without a token of the scope ``admin`` whose owner is an operator at present."""

    @functools.wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        if not api_visitor().role.includes(Role.OPERATOR):
            raise Problem(403, "role", "Only operators may do this, and the owner of this API token is none.")
        return view(*args, **kwargs)

    return scope_required(ADMIN_SCOPE)(guarded)


def api_visitor() -> Visitor:
    """Returns the token's owner. Call it only in views behind ``token_required``."""
    visitor: Visitor = g.api_visitor
    return visitor


def token_owner() -> Visitor | None:
    """Returns the owner of the token that the request has, even where none is needed; None for none that is valid."""
    if "api_visitor" not in g:
        try:
            g.api_visitor = _visitor_of_token("read") if "Authorization" in request.headers else None
        except Problem:
            g.api_visitor = None
    return cast("Visitor | None", g.api_visitor)


def _visitor_of_token(scope: str) -> Visitor:
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if not text or scheme.casefold() != "bearer":
        raise Problem(401, "unauthorized", "Send an API token: Authorization: Bearer <token>.")
    opened = services().openings.open(Opening(text.strip(), submits=scope == "submit"))
    token = opened.token
    if opened.rules is not None:
        g.site_settings, g.offered_devices = opened.rules
    if token is None:
        message = "This API token is not valid. It may have expired or been revoked."
        raise Problem(401, "unauthorized", message, headers={"WWW-Authenticate": f'{BEARER}, error="invalid_token"'})
    if scope not in token.scopes.split():
        message = f"This API token may not be used with the scope {scope}. Make one that may, on the account page."
        needed = f'{BEARER}, error="insufficient_scope", scope="{scope}"'
        raise Problem(403, "scope", message, headers={"WWW-Authenticate": needed})
    now = services().clock()
    # Decided from the row just read: a write transaction starts only when there is something to write.
    if token_use_is_stale(token, now):
        with transaction() as writer:
            touch_token(writer, token, now=now)
    return Visitor.of(token.user)
