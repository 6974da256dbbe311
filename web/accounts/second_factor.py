"""The second factor: the page that turns it on, and the second step of a log-in."""

from __future__ import annotations

import segno
from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response

from store.models import User
from store.people import second_factor
from web.accounts.account_page import account_page
from web.accounts.credentials import check_credentials
from web.accounts.forms import CodeForm, SecondFactorOffForm
from web.accounts.visitor import login_required, require_visitor, start_session
from web.problems import Problem
from web.rate_limits import limit_codes, limit_log_ins
from web.security import safe_next
from web.services import reader, services, transaction

#: In the signed cookie: the key until an app has shown that it has it; new recovery codes until they were shown; and
#: whose password was right, when.
_SECRET, _CODES, _PENDING = "new_factor", "recovery_codes", "second_step"
_PENDING_S = 600


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the blueprint of accounts."""
    blueprint.add_url_rule("/second-factor", view_func=turn_on, methods=["GET", "POST"])
    blueprint.add_url_rule("/second-factor/off", view_func=turn_off, methods=["POST"])
    blueprint.add_url_rule("/log-in/code", view_func=second_step, methods=["GET", "POST"])


def ask_for_code(user: User, next_url: str) -> Response:
    """Redirects to the second step of a log-in. Nobody is logged in until it is done."""
    session.clear()
    session[_PENDING] = [user.id, services().clock().timestamp()]
    return redirect(url_for("accounts.second_step", next=next_url))


@limit_codes
def second_step() -> str | Response | tuple[str, int]:
    """Asks for a code of the app, or a recovery code, and then logs in."""
    user_id, since = session.get(_PENDING) or (None, 0.0)
    now = services().clock()
    if user_id is None or now.timestamp() - since > _PENDING_S:
        return redirect(url_for("accounts.log_in", next=request.args.get("next")))
    form = CodeForm()
    next_url = safe_next(request.values.get("next"), url_for("challenges.index"))
    if form.validate_on_submit():
        with transaction() as writer:
            user = writer.get(User, user_id)
            right = (
                user is not None
                and user.may_sign_in
                and second_factor.use_code(writer, user=user, code=form.code.data, now=now)
            )
            if user is not None and right:
                start_session(writer, user)
        if right:
            return redirect(next_url)
        form.code.errors = ("That code is wrong, or was used already. An app shows a new one every 30 seconds.",)
    page = render_template("accounts/code.html", form=form, next=next_url)
    return (page, 422) if form.errors else page


@login_required
@limit_log_ins
def turn_on() -> str | Response | tuple[str, int]:
    """Shows a QR code and turns the second factor on once the app's code is typed; then shows recovery codes, once."""
    visitor, form = require_visitor(), CodeForm()
    codes = session.pop(_CODES, None)
    if codes:
        return render_template("accounts/recovery_codes.html", codes=codes)
    if reader().get_one(User, visitor.id).totp_secret is not None:
        return redirect(url_for("accounts.settings"))
    secret = session.setdefault(_SECRET, second_factor.new_secret())
    if form.validate_on_submit():
        with transaction() as writer:
            user = writer.get_one(User, visitor.id)
            codes = second_factor.turn_on(writer, user=user, secret=secret, code=form.code.data, now=services().clock())
        if codes is not None:
            session.pop(_SECRET)
            session[_CODES] = codes
            return redirect(url_for("accounts.turn_on"))
        form.code.errors = ("That code is wrong. Is the clock of your device right?",)
    picture = segno.make(second_factor.app_address(secret, username=visitor.username), error="m")
    svg = Markup(picture.svg_inline(scale=5, dark="#000", light="#fff"))  # noqa: S704 (made of digits and paths alone)
    page = render_template("accounts/second_factor.html", form=form, svg=svg, secret=secret)
    return (page, 422) if form.errors else page


@login_required
@limit_log_ins
def turn_off() -> Response | tuple[str, int]:
    """Turns the second factor off. Needs the password, if there is one."""
    form, visitor = SecondFactorOffForm(), require_visitor()
    user = reader().get_one(User, visitor.id)
    if user.totp_secret is None:
        raise Problem(404, "not_found", "The second factor is off already.")
    if not form.validate_on_submit():
        return account_page(factor_form=form), 422
    if user.password_hash is not None and check_credentials(visitor.username, form.factor_password.data) is None:
        form.factor_password.errors = ("That is not your password.",)
        return account_page(factor_form=form), 422
    with transaction() as writer:
        second_factor.turn_off(writer, user=writer.get_one(User, visitor.id))
    flash("The second factor is off.", "success")
    return redirect(url_for("accounts.settings"))
