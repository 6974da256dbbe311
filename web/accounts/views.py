"""The pages to sign up, to log in and to log out.

Passwords are checked outside write transactions: hashing is slow on purpose and would block other writers.
"""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from store.models import User
from store.people import accounts
from store.people.passwords import hash_password
from web.accounts import elsewhere, email, personal_data, recovery, second_factor, settings
from web.accounts.credentials import check_credentials
from web.accounts.email import confirmation_mail, send_later
from web.accounts.forms import LogInForm, SignUpForm, refuse_weak
from web.accounts.invitations import check_sign_up, use_invitation
from web.accounts.second_factor import ask_for_code
from web.accounts.visitor import end_session, signed_in, start_session
from web.mail import Mail
from web.problems import sentence
from web.rate_limits import limit_address, limit_log_ins
from web.security import safe_next
from web.services import release_reader, services, transaction
from web.site import site_settings

blueprint = Blueprint("accounts", __name__, url_prefix="/account")
for part in (settings, recovery, email, second_factor, personal_data, elsewhere):
    part.register(blueprint)


@blueprint.route("/sign-up", methods=["GET", "POST"])
@limit_address
def sign_up() -> str | Response | tuple[str, int]:
    """Creates an account and logs it in, as far as the site takes new accounts."""
    form = SignUpForm()
    if request.method == "GET":
        form.invite.data = request.args.get("invite", "")
    check_sign_up(form.invite.data or "")
    required = site_settings().email == "required"
    if not form.validate_on_submit():
        return _form_page("accounts/sign_up.html", form)
    if required and not form.email.data:
        form.email.errors = ("This site needs your address: it mails you a link.",)
        return _form_page("accounts/sign_up.html", form)
    if refuse_weak(form.password, username=form.username.data):
        return _form_page("accounts/sign_up.html", form)
    release_reader()
    try:
        user, mail = _create_user(form, hash_password(form.password.data))
    except accounts.AccountError as error:
        form.username.errors = (sentence(str(error)),)
        return _form_page("accounts/sign_up.html", form)
    if mail is not None:
        send_later(mail)
        flash(f"An e-mail is on its way to {mail.to}: open its link to confirm your address.", "success")
    flash(f"Welcome, {user.username}.", "success")
    return redirect(_next_url())


def _create_user(form: SignUpForm, password_hash: str) -> tuple[User, Mail | None]:
    """Creates the account, uses up its invitation and starts a session, all at once. Raises AccountError."""
    with transaction() as writer:
        user = accounts.create_user(writer, username=form.username.data, password=None, now=services().clock())
        user.password_hash = password_hash
        use_invitation(writer, form.invite.data or "")
        mail = None
        if form.email.data and site_settings().email != "off":
            mail = confirmation_mail(writer, user=user, email=form.email.data)
        start_session(writer, user)
    return user, mail


@blueprint.route("/log-in", methods=["GET", "POST"])
@limit_log_ins
def log_in() -> str | Response | tuple[str, int]:
    """Logs a user in. A wrong name and a wrong password get the same answer after the same time."""
    if signed_in():
        return redirect(_next_url())
    form = LogInForm()
    if not form.validate_on_submit():
        return _form_page("accounts/log_in.html", form)
    user = check_credentials(form.username.data, form.password.data)
    if user is None:
        form.password.errors = ("The user name or the password is wrong.",)
        return _form_page("accounts/log_in.html", form)
    if user.totp_secret is not None:
        return ask_for_code(user, _next_url())
    with transaction() as writer:
        start_session(writer, user)
    return redirect(_next_url())


@blueprint.post("/log-out")
def log_out() -> Response:
    """Ends the session, if there is one."""
    end_session()
    return redirect(url_for("challenges.index"))


def _form_page(template: str, form: SignUpForm | LogInForm) -> str | tuple[str, int]:
    page = render_template(
        template,
        form=form,
        next=safe_next(request.values.get("next"), ""),
        email_mode=site_settings().email,
    )
    return (page, 422) if form.errors else page


def _next_url() -> str:
    return safe_next(request.values.get("next"), url_for("challenges.index"))
