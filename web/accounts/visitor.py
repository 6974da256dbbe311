"""The logged-in user of a session, detached from any database session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ParamSpec, TypeVar, cast

import flask_login
from flask import Flask, g, redirect, request, session, url_for
from flask_login import AnonymousUserMixin, LoginManager, UserMixin, current_user, login_user, logout_user
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from store.models import Role, User
from store.people import sessions
from web.errors import wants_json
from web.problems import Problem
from web.services import reader, services, transaction

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Visitor(UserMixin):
    """A logged-in user. ``session_id`` and ``key`` are those of the browser's session; a token has none."""

    id: int
    username: str
    role: Role = Role.USER
    session_id: int | None = None
    key: str = field(default="", repr=False)

    @classmethod
    def of(cls, user: User) -> Visitor:
        """Returns the visitor for a user without a session."""
        return cls(id=user.id, username=user.username, role=Role(user.role))

    def get_id(self) -> str:
        """Returns the value that Flask-Login keeps in the signed session cookie: the session's key."""
        return self.key


def signed_in() -> Visitor | None:
    """Returns the visitor whom the session cookie logs in, or None."""
    visitor: Visitor | AnonymousUserMixin = current_user._get_current_object()
    return visitor if isinstance(visitor, Visitor) else None


def current_visitor() -> Visitor | None:
    """Returns who sends the request, or None: in the API the owner of its token, elsewhere ``signed_in``."""
    # The API ignores cookies: there, a request without a token is nobody's.
    return cast(Visitor | None, g.api_visitor) if "api_visitor" in g else signed_in()


def require_visitor() -> Visitor:
    """Returns who sends the request. Call it only in views that ask for a session or a token."""
    visitor = current_visitor()
    if visitor is None:
        raise RuntimeError("the view lets anybody through")
    return visitor


def login_required(view: Callable[P, R]) -> Callable[P, R]:
    """Redirects visitors without a session to the log-in: Flask-Login's decorator, with the view's types."""
    return cast(Callable[P, R], flask_login.login_required(view))


def start_session(writer: Session, user: User) -> None:
    """Logs a user in with a new session and a new CSRF token. ``writer`` stores the session with its transaction."""
    key = sessions.start_session(
        writer,
        user=user,
        address=request.remote_addr or "",
        user_agent=request.headers.get("User-Agent", ""),
        now=services().clock(),
    )
    session.clear()
    session.permanent = True
    login_user(replace(Visitor.of(user), key=key))


def end_session() -> None:
    """Ends the visitor's session, for every copy of its cookie. Does nothing where there is none."""
    visitor = signed_in()
    if visitor is not None and visitor.session_id is not None:
        with transaction() as writer:
            sessions.end_session(writer, user_id=visitor.id, session_id=visitor.session_id)
    logout_user()
    session.clear()


def load_visitor(key: str) -> Visitor | None:
    """Returns the visitor of a session cookie; None if the session has ended or the account is closed."""
    now = services().clock()
    found = sessions.find_session(reader(), key, now=now)
    if found is None:
        return None
    if sessions.session_use_is_stale(found, now):
        with transaction() as writer:
            sessions.touch_session(writer, found, now=now)
    return replace(Visitor.of(found.user), session_id=found.id, key=key)


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
