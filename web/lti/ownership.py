"""Ties a ticket to the browser that the platform sent with it, by a cookie that goes to the ticket's address alone.

Whoever is sent the address of somebody else's ticket is not signed in as that person, and gives them no account.
"""

from __future__ import annotations

from flask import request
from werkzeug.wrappers import Response

from web.problems import Problem
from web.services import services

_COOKIE = "lti-ticket"
_KEPT_S = 3600


def keep(answer: Response, ticket: str, address: str, *, framed: bool = False) -> Response:
    """Lets this browser open the ticket at an address; ``framed``: within a page of the platform."""
    secure = request.is_secure or services().settings.session_cookie_secure
    framed = framed and secure  # browsers take a cookie of a frame by HTTPS alone
    answer.set_cookie(
        _COOKIE,
        ticket,
        max_age=_KEPT_S,
        path=address,
        secure=secure,
        httponly=True,
        samesite="None" if framed else "Lax",
        partitioned=framed,
    )
    return answer


def refuse_others(ticket: str) -> None:
    """Raises Problem 403 unless it was this browser that the platform sent with the ticket."""
    if request.cookies.get(_COOKIE) != ticket:
        raise not_own()


def not_own() -> Problem:
    """Returns the error of a ticket that is another browser's."""
    return Problem(
        403,
        "lti_not_yours",
        "Only the browser that came from the course may use this address. Open the link in your course yourself. If "
        "that fails, allow cookies of this site, or open the link in a window of its own.",
    )
