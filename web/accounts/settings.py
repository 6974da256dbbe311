"""The account page: sessions, API tokens and the password."""

from __future__ import annotations

from datetime import timedelta

from flask import Blueprint, flash, redirect, session, url_for
from werkzeug.wrappers import Response

from store.models import User
from store.people import accounts, sessions
from store.people.passwords import hash_password
from web.accounts.account_page import account_page
from web.accounts.credentials import check_credentials
from web.accounts.forms import PasswordForm, TokenForm, refuse_weak
from web.accounts.visitor import end_session, login_required, require_visitor, start_session
from web.problems import Problem, sentence
from web.rate_limits import limit_log_ins
from web.services import services, transaction

#: Where the cookie carries a new token's text from the form to the page that shows it once.
_NEW_TOKEN = "new_token"  # noqa: S105 (the name of a field)


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the blueprint of accounts."""
    key = "int(max=2147483647)"
    blueprint.add_url_rule("/", "settings", show_settings)
    blueprint.add_url_rule("/tokens", view_func=create_token, methods=["POST"])
    blueprint.add_url_rule(f"/tokens/<{key}:token_id>/revoke", view_func=revoke_token, methods=["POST"])
    blueprint.add_url_rule(f"/sessions/<{key}:session_id>/end", view_func=end_one_session, methods=["POST"])
    blueprint.add_url_rule("/password", view_func=change_password, methods=["POST"])


@login_required
def show_settings() -> str:
    """Renders the account page; after a token was created, with its text, once."""
    return account_page(new_token=session.pop(_NEW_TOKEN, None))


@login_required
def create_token() -> Response | tuple[str, int]:
    """Creates an API token and redirects to the page that shows its text, so that a reload creates no second one.

    The text crosses the redirect in the session's cookie, which the next page empties. The server does not store it.
    """
    form, now = TokenForm(), services().clock()
    if not form.validate_on_submit():
        return account_page(token_form=form), 422
    days = int(form.expires.data) if form.expires.data else None
    try:
        with transaction() as writer:
            _, text = accounts.create_token(
                writer,
                user=writer.get_one(User, require_visitor().id),
                name=form.name.data,
                scopes=form.scopes.data.split(),
                expires_at=None if days is None else now + timedelta(days=days),
                now=now,
            )
    except accounts.AccountError as error:
        form.name.errors = (sentence(str(error)),)
        return account_page(token_form=form), 422
    session[_NEW_TOKEN] = text
    return redirect(url_for("accounts.settings", _anchor="new-token"))


@login_required
def revoke_token(token_id: int) -> Response:
    """Revokes an API token. Answers 404 for a token of another user."""
    with transaction() as writer:
        revoked = accounts.revoke_token(writer, user=writer.get_one(User, require_visitor().id), token_id=token_id)
    if not revoked:
        raise Problem(404, "not_found", "You have no such token.")
    flash("The token no longer works.", "success")
    return redirect(url_for("accounts.settings"))


@login_required
def end_one_session(session_id: int) -> Response:
    """Ends a session of the visitor, this one or another. Answers 404 for a session of another user."""
    if session_id == require_visitor().session_id:
        end_session()
        return redirect(url_for("challenges.index"))
    with transaction() as writer:
        ended = sessions.end_session(writer, user_id=require_visitor().id, session_id=session_id)
    if not ended:
        raise Problem(404, "not_found", "You have no such session.")
    flash("That session is logged out.", "success")
    return redirect(url_for("accounts.settings"))


@login_required
@limit_log_ins
def change_password() -> Response | tuple[str, int]:
    """Changes the password, ends every other session of the account and, if asked, revokes its tokens."""
    form = PasswordForm()
    visitor = require_visitor()
    if form.validate_on_submit():
        if check_credentials(visitor.username, form.current.data) is None:
            form.current.errors = ("That is not your current password.",)
        elif not refuse_weak(form.new, username=visitor.username):
            hashed = hash_password(form.new.data)
            with transaction() as writer:
                user = writer.get_one(User, visitor.id)
                accounts.change_password(writer, user=user, password_hash=hashed)
                if form.revoke_tokens.data:
                    accounts.revoke_all_tokens(writer, user=user)
                start_session(writer, user)
            too = " Your API tokens no longer work." if form.revoke_tokens.data else ""
            flash(f"The password is changed. Other sessions were logged out.{too}", "success")
            return redirect(url_for("accounts.settings"))
    return account_page(password_form=form), 422
