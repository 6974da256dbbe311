"""Headers that every answer carries, and the check of where a log-in may lead.

The policy for content allows no inline script at all. Styles come from this site or carry the request's nonce: the
editor (CodeMirror) makes its style sheet at run time, and is handed the nonce by the page. KaTeX sets styles through
the CSSOM, which the policy does not concern.
"""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from flask import Flask, Response, g, request


def style_nonce() -> str:
    """The nonce of this request's style sheets."""
    if "style_nonce" not in g:
        g.style_nonce = secrets.token_urlsafe(16)
    return str(g.style_nonce)


def register_security_headers(app: Flask) -> None:
    """Sets the headers on every response, and offers the nonce to templates."""
    app.context_processor(lambda: {"style_nonce": style_nonce()})

    @app.after_request
    def add_headers(response: Response) -> Response:
        nonce = g.get("style_nonce")
        styles = "'self'" if nonce is None else f"'self' 'nonce-{nonce}'"
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src 'self'; style-src {styles}; img-src 'self' data:; font-src 'self'; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        response.headers["Permissions-Policy"] = "camera=(), microphone=(), geolocation=()"
        if request.is_secure:
            response.headers["Strict-Transport-Security"] = "max-age=31536000"
        # Pages show who is logged in and what they sent: no cache between here and the browser may keep them.
        if request.endpoint != "static":
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def safe_next(target: str | None, default: str) -> str:
    """``target`` if it is a path on this site, else ``default``: a log-in must not lead elsewhere.

    Browsers read a backslash as a slash and drop tabs and newlines, so anything with them is refused.
    """
    if not target or not target.startswith("/") or target.startswith("//"):
        return default
    if "\\" in target or any(ord(character) < 0x20 for character in target):
        return default
    parts = urlsplit(target)
    return default if parts.scheme or parts.netloc else target
