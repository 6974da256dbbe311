"""Who is looking: the part of a user that a session needs, free of any database session."""

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
    """``stamp`` changes with the password: a session from before a change of password is nobody's."""

    id: int
    username: str
    stamp: str

    @classmethod
    def of(cls, user: User) -> Visitor:
        """The visitor that ``user`` is."""
        stamp = hashlib.sha256((user.password_hash or "").encode()).hexdigest()[:16]
        return cls(id=user.id, username=user.username, stamp=stamp)

    def get_id(self) -> str:
        """What the signed session cookie holds."""
        return f"{self.id}.{self.stamp}"


def signed_in() -> Visitor | None:
    """Whoever is logged in by session."""
    visitor: Visitor | AnonymousUserMixin = current_user._get_current_object()
    return visitor if isinstance(visitor, Visitor) else None


def require_visitor() -> Visitor:
    """The visitor of a view behind ``login_required``."""
    visitor = signed_in()
    assert visitor is not None, "login_required let nobody through"
    return visitor


def login_required(view: Callable[P, R]) -> Callable[P, R]:
    """Leads whoever is not logged in to the log-in; Flask-Login's, with its view's types kept."""
    return cast(Callable[P, R], flask_login.login_required(view))


def start_session(user: User) -> None:
    """Log ``user`` in with a new session: nothing that was in the old one (nor its CSRF token) stays valid."""
    session.clear()
    session.permanent = True
    login_user(Visitor.of(user))


def load_visitor(visitor_id: str) -> Visitor | None:
    """The visitor of a session cookie, if their account is open and their password still the same."""
    number, _, stamp = visitor_id.partition(".")
    user = reader().get(User, int(number)) if number.isdecimal() else None
    if user is None or not user.is_active:
        return None
    visitor = Visitor.of(user)
    return visitor if hmac.compare_digest(visitor.stamp, stamp) else None


def lead_to_log_in() -> BaseResponse:
    """What a page that needs a session answers without one: the way to the log-in, and back from there."""
    if wants_json():
        raise Problem(401, "unauthorized", "Log in first.")
    here = request.full_path.rstrip("?") if request.method == "GET" else None
    return redirect(url_for("accounts.log_in", next=here))


def register_login(app: Flask) -> None:
    """Sessions by Flask-Login; pages that need one lead to the log-in and back."""
    manager = LoginManager()
    manager.session_protection = None  # type: ignore[assignment]  # bound to the address it would log people out who travel
    manager.user_loader(load_visitor)
    manager.unauthorized_handler(lead_to_log_in)
    # Its own context processor would ask the database even for the page that says that the database is away.
    manager.init_app(app, add_context_processor=False)
    app.context_processor(lambda: {"signed_in": None if g.get("database_away") else signed_in()})
