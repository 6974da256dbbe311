"""Rate limits for submissions and log-ins, counted in Redis if it is configured, else in memory.

Memory is enough without Redis, since the server is one process with many threads then (``WebSettings.processes``).
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from flask import Flask, Response, current_app, g, request, session
from flask_limiter import Limiter, RateLimitExceeded
from flask_limiter.util import get_remote_address

from web.accounts.visitor import current_visitor, signed_in
from web.errors import answer
from web.problems import Problem
from web.settings import WebSettings
from web.site import site_settings

P = ParamSpec("P")
R = TypeVar("R")


def per_user() -> str:
    """Returns the key of the rate limit: the user, whether known by session or by token, else the IP address."""
    visitor = current_visitor()
    return f"address:{get_remote_address()}" if visitor is None else f"user:{visitor.id}"


def per_account() -> str:
    """Returns the key of the account that a request would open: the visitor's, or that which its form or body names."""
    body = request.get_json(silent=True) if request.is_json else None
    given = body.get("username") if isinstance(body, dict) else request.form.get("username")
    visitor = signed_in()
    name = visitor.username if given is None and visitor is not None else str(given or "")
    # The store of counts keeps the key: a digest bounds its length.
    return f"account:{hashlib.sha256(name.strip().casefold().encode(errors='replace')).hexdigest()[:32]}"


def _rate(name: str) -> Callable[[], str]:
    return lambda: str(current_app.config[name])


limiter = Limiter(key_func=get_remote_address, headers_enabled=True)

_per_address = limiter.shared_limit(_rate("ADDRESS_RATE"), scope="address", methods=["POST"])
_per_account = limiter.shared_limit(_rate("LOG_IN_RATE"), scope="log-in", key_func=per_account, methods=["POST"])
#: Of mails to one person: counted under what was typed, whether there is such a person or not.
_per_recipient = limiter.shared_limit(_rate("MAIL_RATE"), scope="mail", key_func=per_account, methods=["POST"])
#: Of codes, per account: somebody who knows the password may not try them all.
_per_code = limiter.shared_limit(
    _rate("LOG_IN_RATE"), scope="code", key_func=lambda: f"code:{session.get('second_step', [0])[0]}", methods=["POST"]
)
#: Of joins by the link of one class: its members may all sit behind one address.
_per_class = limiter.shared_limit(
    _rate("CLASS_RATE"), scope="class", key_func=lambda: f"class:{g.joined_class}", methods=["POST"]
)
#: Of texts whose machine code a user asks for while writing: each takes a compilation.
_per_writer = limiter.shared_limit("60 per minute", scope="machine-code", key_func=per_user, methods=["POST"])
#: Counts what was accepted. Requests that run at the same time are counted when they end, so a few may pass at once.
limit_submissions = limiter.shared_limit(
    lambda: site_settings().submission_rate,
    scope="submit",
    key_func=per_user,
    methods=["POST"],
    deduct_when=lambda response: response.status_code < 400,
)


def limit_address(view: Callable[P, R]) -> Callable[P, R]:
    """Limits requests by the visitor's address alone."""
    return cast(Callable[P, R], _per_address(view))


@_per_class
def _count_for_class() -> None:
    """Is counted, and does nothing else."""


@_per_address
def _count_for_address() -> None:
    """Is counted, and does nothing else."""


@_per_writer
def count_draft_assembly() -> None:
    """Counts a text whose machine code is asked for while it is written. Raises RateLimitExceeded."""


def count_join(class_id: int | None) -> None:
    """Counts a request to join a class, or for None one with the code of no class, which counts for the address.

    Raises RateLimitExceeded.
    """
    if class_id is None:
        _count_for_address()
        return
    g.joined_class = class_id
    _count_for_class()


def retry_after(seconds: int) -> None:
    """Makes this response, a 429 or a 503, ask for a pause, whatever the limits have counted."""
    g.retry_after_s = seconds


def wait_s() -> int:
    """Returns in how many seconds the limit that the request broke has room again."""
    broken = limiter.current_limit
    return 1 if broken is None else max(1, math.ceil(broken.reset_at - time.time()))


def limit_log_ins(view: Callable[P, R]) -> Callable[P, R]:
    """Limits attempts by account and, more laxly, by address: a class behind one address must not lock itself out."""
    return cast(Callable[P, R], _per_address(_per_account(view)))


def limit_codes(view: Callable[P, R]) -> Callable[P, R]:
    """Limits the codes that are tried for an account whose password was right."""
    return cast(Callable[P, R], _per_address(_per_code(view)))


def limit_mails(view: Callable[P, R]) -> Callable[P, R]:
    """Limits mails by recipient and, more laxly, by address."""
    return cast(Callable[P, R], _per_address(_per_recipient(view)))


def _too_often(error: RateLimitExceeded) -> Response:
    seconds = wait_s()
    message = f"That was too often: the limit is {error.description}. Try again in {seconds} s."
    return answer(Problem(429, "rate_limited", message, retry_after_s=seconds))


def register_limits(app: Flask, settings: WebSettings) -> None:
    """Binds the limiter to the application. If Redis is unavailable, it counts in memory."""
    app.register_error_handler(RateLimitExceeded, _too_often)
    app.config.update(
        LOG_IN_RATE=settings.log_in_rate,
        ADDRESS_RATE=settings.address_rate,
        CLASS_RATE=settings.class_rate,
        MAIL_RATE=settings.mail_rate,
        RATELIMIT_STORAGE_URI=settings.redis_url or "memory://",
        RATELIMIT_IN_MEMORY_FALLBACK_ENABLED=settings.redis_url is not None,
        RATELIMIT_KEY_PREFIX="gpujudge",
    )

    @app.after_request
    def retry_only_what_failed(response: Response) -> Response:
        # The limiter sets it on every response that it counted. Handlers run in reverse order: this one comes after it.
        if response.status_code not in (429, 503):
            response.headers.pop("Retry-After", None)
        elif (seconds := g.get("retry_after_s")) is not None:
            response.headers["Retry-After"] = str(seconds)
        return response

    limiter.init_app(app)
