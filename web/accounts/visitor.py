"""The logged-in user of a session, detached from any database session."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar, cast

import flask_login
from flask import Flask, g, redirect, request, session, url_for
from flask_login import AnonymousUserMixin, LoginManager, UserMixin, current_user, login_user
from werkzeug.wrappers import Response as BaseResponse

from store.models import User
from web.errors import wants_json
from web.problems import Problem
from web.services import reader

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Visitor(UserMixin):
    """A logged-in user. ``stamp`` changes with the password, so older sessions become invalid."""

    id: int
    username: str
    stamp: str

    @classmethod
    def of(cls, user: User) -> Visitor:
        """Returns the visitor for a user."""
        stamp = hashlib.sha256((user.password_hash or "").encode()).hexdigest()[:16]
        return cls(id=user.id, username=user.username, stamp=stamp)

    def get_id(self) -> str:
        """Returns the value that Flask-Login keeps in the signed session cookie."""
        return f"{self.id}.{self.stamp}"


def signed_in() -> Visitor | None:
    """Returns the visitor whom the session cookie logs in, or None."""
    visitor: Visitor | AnonymousUserMixin = current_user._get_current_object()
    return visitor if isinstance(visitor, Visitor) else None


def require_visitor() -> Visitor:
    """Returns the visitor. Call it only in views behind ``login_required``."""
    visitor = signed_in()
    assert visitor is not None, "login_required let nobody through"
    return visitor


def login_required(view: Callable[P, R]) -> Callable[P, R]:
    """Redirects visitors without a session to the log-in: Flask-Login's decorator, with the view's types."""
    return cast(Callable[P, R], flask_login.login_required(view))


def start_session(user: User) -> None:
    """Logs a user in with a new session, which invalidates the old one and its CSRF token."""
    session.clear()
    session.permanent = True
    login_user(Visitor.of(user))


def load_visitor(visitor_id: str) -> Visitor | None:
    """Returns the visitor of a session cookie; None if the account is closed or the password has changed."""
    number, _, stamp = visitor_id.partition(".")
    user = reader().get(User, int(number)) if number.isdecimal() else None
    if user is None or not user.is_active:
        return None
    visitor = Visitor.of(user)
    return visitor if hmac.compare_digest(visitor.stamp, stamp) else None


def redirect_to_log_in() -> BaseResponse:
    """Redirects to the log-in page, which leads back here. Raises Problem (401) for JSON requests."""
    if wants_json():
        raise Problem(401, "unauthorized", "Log in first.")
    here = request.full_path.rstrip("?") if request.method == "GET" else None
    return redirect(url_for("accounts.log_in", next=here))


def register_login(app: Flask) -> None:
    """Sets up Flask-Login sessions and offers ``signed_in`` to templates."""
    manager = LoginManager()
    manager.session_protection = None  # type: ignore[assignment]  # a session bound to an IP address ends when the user changes networks
    manager.user_loader(load_visitor)
    manager.unauthorized_handler(redirect_to_log_in)
    # Flask-Login's context processor would query the database even on the page that reports it as unavailable.
    manager.init_app(app, add_context_processor=False)
    app.context_processor(lambda: {"signed_in": None if g.get("database_away") else signed_in()})
