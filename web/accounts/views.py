"""The account pages.

Passwords are checked outside write transactions: hashing is slow on purpose and would block other writers.
"""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from flask_login import logout_user
from werkzeug.wrappers import Response

from store import accounts
from store.models import User
from web.accounts.forms import LogInForm, PasswordForm, SignUpForm, TokenForm
from web.accounts.visitor import login_required, require_visitor, signed_in, start_session
from web.problems import Problem
from web.rates import limit_log_ins
from web.security import safe_next
from web.services import reader, services, transaction

blueprint = Blueprint("accounts", __name__, url_prefix="/account")


@blueprint.route("/sign-up", methods=["GET", "POST"])
@limit_log_ins
def sign_up() -> str | Response | tuple[str, int]:
    """Creates an account and logs it in."""
    form = SignUpForm()
    if not form.validate_on_submit():
        return _form_page("accounts/sign_up.html", form)
    try:
        with transaction() as writer:
            user = accounts.create_user(
                writer, username=form.username.data, password=form.password.data, now=services().clock()
            )
    except accounts.AccountError as error:
        form.username.errors = (_sentence(str(error)),)
        return _form_page("accounts/sign_up.html", form)
    start_session(user)
    flash(f"Welcome, {user.username}.", "success")
    return redirect(_next_url())


@blueprint.route("/log-in", methods=["GET", "POST"])
@limit_log_ins
def log_in() -> str | Response | tuple[str, int]:
    """Logs a user in. A wrong name and a wrong password get the same answer after the same time."""
    if signed_in():
        return redirect(_next_url())
    form = LogInForm()
    if not form.validate_on_submit():
        return _form_page("accounts/log_in.html", form)
    user = accounts.check_password(reader(), form.username.data, form.password.data)
    if user is None:
        form.password.errors = ("The user name or the password is wrong.",)
        return _form_page("accounts/log_in.html", form)
    start_session(user)
    return redirect(_next_url())


@blueprint.post("/log-out")
def log_out() -> Response:
    """Ends the session, if there is one."""
    logout_user()
    session.clear()
    return redirect(url_for("challenges.index"))


@blueprint.get("/")
@login_required
def settings() -> str:
    """Renders the page with the API tokens and the password form."""
    return _settings_page(TokenForm(), PasswordForm())


@blueprint.post("/tokens")
@login_required
def create_token() -> str | tuple[str, int]:
    """Creates an API token. Its text appears in this response only; it is not stored."""
    form = TokenForm()
    if not form.validate_on_submit():
        return _settings_page(form, PasswordForm()), 422
    with transaction() as writer:
        _, text = accounts.create_token(writer, user=writer.get_one(User, require_visitor().id), name=form.name.data)
    return _settings_page(TokenForm(formdata=None), PasswordForm(), new_token=text)


@blueprint.post("/tokens/<int(max=2147483647):token_id>/revoke")
@login_required
def revoke_token(token_id: int) -> Response:
    """Revokes an API token. Answers 404 for a token of another user."""
    with transaction() as writer:
        revoked = accounts.revoke_token(writer, user=writer.get_one(User, require_visitor().id), token_id=token_id)
    if not revoked:
        raise Problem(404, "not_found", "You have no such token.")
    flash("The token no longer works.", "success")
    return redirect(url_for("accounts.settings"))


@blueprint.post("/password")
@login_required
@limit_log_ins
def change_password() -> str | Response | tuple[str, int]:
    """Changes the password and ends every other session of the account."""
    form = PasswordForm()
    visitor = require_visitor()
    if form.validate_on_submit():
        if accounts.check_password(reader(), visitor.username, form.current.data) is None:
            form.current.errors = ("That is not your current password.",)
        else:
            with transaction() as writer:
                user = writer.get_one(User, require_visitor().id)
                accounts.change_password(writer, user=user, password=form.new.data)
            start_session(user)
            flash("The password is changed. Other sessions were logged out.", "success")
            return redirect(url_for("accounts.settings"))
    return _settings_page(TokenForm(formdata=None), form), 422


def _settings_page(token_form: TokenForm, password_form: PasswordForm, new_token: str | None = None) -> str:
    tokens = accounts.list_tokens(reader(), user=reader().get_one(User, require_visitor().id))
    return render_template(
        "accounts/settings.html",
        tokens=tokens,
        token_form=token_form,
        password_form=password_form,
        new_token=new_token,
        server=request.url_root.rstrip("/"),
    )


def _form_page(template: str, form: SignUpForm | LogInForm) -> str | tuple[str, int]:
    page = render_template(template, form=form, next=safe_next(request.values.get("next"), ""))
    return (page, 422) if form.errors else page


def _next_url() -> str:
    return safe_next(request.values.get("next"), url_for("challenges.index"))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
