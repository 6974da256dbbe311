"""Security headers of every response, and the check of redirect targets after a log-in.

The content security policy forbids inline scripts. Style sheets come from this site or carry the request's nonce: the
editor (CodeMirror) creates its style sheet at run time with the nonce that the page gives it. No page is shown in a
frame of another site, and forms go to this one alone, but for the origins that a view puts into ``g.framed_by`` and
``g.posts_to``.
"""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from flask import Flask, Response, g, request


def style_nonce() -> str:
    """Returns the nonce of this request's style sheets."""
    if "style_nonce" not in g:
        g.style_nonce = secrets.token_urlsafe(16)
    return str(g.style_nonce)


def register_security_headers(app: Flask) -> None:
    """Sets the headers on every response and offers the nonce to templates."""
    app.context_processor(lambda: {"style_nonce": style_nonce()})

    @app.after_request
    def add_headers(response: Response) -> Response:
        nonce = g.get("style_nonce")
        none, posts_to = "'none'", ["'self'", *g.get("posts_to", ())]
        styles = "'self'" if nonce is None else f"'self' 'nonce-{nonce}'"
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src 'self'; style-src {styles}; img-src 'self' data:; font-src 'self'; "
            f"connect-src 'self'; form-action {' '.join(posts_to)}; "
            f"base-uri 'none'; frame-ancestors {' '.join(g.get('framed_by', ())) or none}"
        )
        response.headers["X-Content-Type-Options"] = "nosniff"
        if not g.get("framed_by"):
            response.headers["X-Frame-Options"] = "DENY"
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        response.headers["Permissions-Policy"] = "camera=(), microphone=(), geolocation=()"
        if request.is_secure:
            response.headers["Strict-Transport-Security"] = "max-age=31536000"
        # Pages contain private data (user names, sources), so caches must not store them.
        if request.endpoint != "static":
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def safe_next(target: str | None, default: str) -> str:
    """Returns ``target`` if it is a path on this site, else ``default``, to prevent open redirects.

    Browsers treat a backslash as a slash and drop tabs and newlines, so a target that contains them is rejected.
    """
    if not target or not target.startswith("/") or target.startswith("//"):
        return default
    if "\\" in target or any(ord(character) < 0x20 for character in target):
        return default
    parts = urlsplit(target)
    return default if parts.scheme or parts.netloc else target
