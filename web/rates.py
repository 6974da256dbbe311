"""Rate limits for submissions and log-ins, counted in Redis if it is configured, else in memory.

Memory is enough because the server is one process with many threads (see ``gunicorn_conf.py``).
"""

from __future__ import annotations

from flask import Flask, current_app, g
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address

from web.accounts.visitor import Visitor, signed_in
from web.settings import WebSettings


def per_user() -> str:
    """Returns the key of the rate limit: the user, whether known by session or by token, else the IP address."""
    visitor: Visitor | None = g.get("api_visitor") or signed_in()
    return f"address:{get_remote_address()}" if visitor is None else f"user:{visitor.id}"


def log_in_rate() -> str:
    """Returns the configured rate of log-in and sign-up attempts per IP address."""
    return str(current_app.config["LOG_IN_RATE"])


def submission_rate() -> str:
    """Returns the configured rate of submissions per user."""
    return str(current_app.config["SUBMISSION_RATE"])


limiter = Limiter(key_func=get_remote_address, headers_enabled=True)

limit_log_ins = limiter.shared_limit(log_in_rate, scope="log-in", methods=["POST"])
limit_submissions = limiter.shared_limit(submission_rate, scope="submit", key_func=per_user, methods=["POST"])


def register_limits(app: Flask, settings: WebSettings) -> None:
    """Binds the limiter to the application. If Redis is unavailable, it counts in memory."""
    app.config.update(
        LOG_IN_RATE=settings.log_in_rate,
        SUBMISSION_RATE=settings.submission_rate,
        RATELIMIT_STORAGE_URI=settings.redis_url or "memory://",
        RATELIMIT_IN_MEMORY_FALLBACK_ENABLED=settings.redis_url is not None,
        RATELIMIT_KEY_PREFIX="gpujudge",
    )
    limiter.init_app(app)
