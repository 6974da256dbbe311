"""The operators' page of users: roles, suspensions, links that reset a password, and merging two accounts."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from store.models import Role, User
from store.operation.administration import make_reset_link, restore_user, search_users, set_role, suspend_user
from store.people.accounts import find_user
from store.people.merging import merge_user
from web.accounts.recovery import base_url
from web.admin.acting import acting, given_reason
from web.problems import Problem
from web.services import reader, services

#: Where a link waits for the page that shows it, once.
_NEW_LINK = "reset-link"


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule("/users", view_func=users)
    for name, view in (
        ("role", change_role),
        ("suspend", suspend),
        ("restore", restore),
        ("reset-link", reset_link),
        ("merge", merge),
    ):
        blueprint.add_url_rule(f"/users/<username>/{name}", view_func=view, methods=["POST"])


def users() -> str:
    """Renders the users that fit ``q``, the newest first."""
    text = request.args.get("q", "")
    return render_template(
        "admin/users.html",
        users=search_users(reader(), text),
        text=text,
        roles=list(Role),
        link=session.pop(_NEW_LINK, None),
    )


def change_role(username: str) -> Response:
    """Gives a user a role."""
    try:
        role = Role(request.form.get("role", ""))
    except ValueError:
        raise Problem(422, "invalid", f"role is one of {', '.join(Role)}.") from None
    with acting(f"{username} has the role {role} now.") as (writer, actor):
        set_role(writer, actor, require_user(writer, username), role, now=services().clock())
    return _back(username)


def suspend(username: str) -> Response:
    """Suspends a user."""
    reason = given_reason()
    with acting(f"{username} is suspended.") as (writer, actor):
        suspend_user(writer, actor, require_user(writer, username), reason, now=services().clock())
    return _back(username)


def restore(username: str) -> Response:
    """Ends a suspension."""
    with acting(f"{username} may log in again.") as (writer, actor):
        restore_user(writer, actor, require_user(writer, username), now=services().clock())
    return _back(username)


def reset_link(username: str) -> Response:
    """Makes a link by which a user sets a new password; the next page shows it, once."""
    with acting("The link below works once, within 30 minutes.") as (writer, actor):
        user = require_user(writer, username)
        both = bool(request.form.get("second_factor"))
        text = make_reset_link(writer, actor, user, second_factor=both, now=services().clock())
        session[_NEW_LINK] = [user.username, f"{base_url()}/account/reset/{text}"]
    return _back(username)


def merge(username: str) -> Response:
    """Merges an account into another one, where the form repeats its name: it cannot be undone."""
    into = request.form.get("into", "").strip()
    if request.form.get("sure", "").strip().casefold() != username.casefold():
        flash(f"Nothing was done. To merge {username}, repeat its user name: this cannot be undone.", "error")
        return _back(username)
    with acting() as (writer, actor):
        kept = require_user(writer, into)
        summary = merge_user(writer, actor, require_user(writer, username), kept, now=services().clock())
        flash(f"{username} is merged into {kept.username}: {summary} went over.", "success")
    return _back(into)


def require_user(writer: Session, username: str) -> User:
    """Returns the user. Raises Problem 404."""
    user = find_user(writer, username)
    if user is None:
        raise Problem(404, "not_found", f"There is no user “{username[:64]}”.")
    return user


def _back(username: str) -> Response:
    return redirect(url_for("admin.users", q=username), 303)
