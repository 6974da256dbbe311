"""Confirms e-mail addresses: an address belongs to an account once its link was followed."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from store.models import User
from store.people import accounts
from store.people.links import Purpose, create_link, end_links, find_link, use_link
from store.teaching.roster import claim_invitations
from web.accounts.account_page import account_page
from web.accounts.credentials import check_credentials
from web.accounts.forms import ConfirmForm, EmailForm
from web.accounts.recovery import base_url
from web.accounts.visitor import login_required, require_visitor
from web.mail import Mail
from web.problems import Problem, sentence
from web.rate_limits import limit_address, limit_log_ins
from web.services import reader, services, transaction
from web.site import site_settings


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the blueprint of accounts."""
    blueprint.add_url_rule("/email", view_func=change_email, methods=["POST"])
    blueprint.add_url_rule("/confirm/<text>", view_func=confirm_email, methods=["GET", "POST"])


@login_required
@limit_log_ins
def change_email() -> Response | tuple[str, int]:
    """Mails a link to the new address, or removes the address if none is given. Needs the password."""
    if site_settings().email == "off":
        raise Problem(404, "not_found", "This site keeps no e-mail addresses.")
    form, visitor = EmailForm(), require_visitor()
    user = reader().get_one(User, visitor.id)
    if not form.validate_on_submit():
        return account_page(email_form=form), 422
    if user.password_hash is not None and check_credentials(visitor.username, form.email_password.data) is None:
        form.email_password.errors = ("That is not your password.",)
        return account_page(email_form=form), 422
    with transaction() as writer:
        user = writer.get_one(User, visitor.id)
        if form.email.data:
            mail = confirmation_mail(writer, user=user, email=form.email.data)
        else:
            accounts.set_email(writer, user=user, email=None)
            end_links(writer, Purpose.CONFIRM, user_id=user.id)
            mail = None
    if mail is None:
        flash("Your address is removed.", "success")
    else:
        send_later(mail)
        flash(f"An e-mail is on its way to {mail.to}. Your address counts once you open its link.", "success")
    return redirect(url_for("accounts.settings"))


@limit_address
def confirm_email(text: str) -> str | Response:
    """Asks for a click, which a mail scanner does not make, and then confirms the address."""
    now = services().clock()
    link = find_link(reader(), Purpose.CONFIRM, text, now=now)
    if link is None:
        raise _used_up()
    form = ConfirmForm()
    if not form.validate_on_submit():
        return render_template("accounts/confirm.html", form=form, email=link.email)
    try:
        with transaction() as writer:
            used = use_link(writer, Purpose.CONFIRM, text, now=now)
            if used is None or used.user_id is None:
                raise _used_up()
            user = writer.get_one(User, used.user_id)
            before = user.email
            accounts.set_email(writer, user=user, email=used.email)
            joined = claim_invitations(writer, user, now=now)
    except accounts.AccountError as error:
        raise Problem(409, "email_taken", sentence(str(error))) from None
    if before is not None and before != used.email:
        text = f"Hello {user.username},\n\nyour account on gpujudge now has another e-mail address than this one.\n"
        send_later(Mail(to=before, subject="Your address on gpujudge has changed", text=text))
    flash("Your e-mail address is confirmed.", "success")
    if joined:
        flash("A teacher's list names it: you are in a new class, which is under Classes.", "success")
    return redirect(url_for("challenges.index"))


def confirmation_mail(writer: Session, *, user: User, email: str) -> Mail:
    """Creates a link that confirms the address, and returns the mail with it, to be sent after the transaction."""
    link = create_link(writer, Purpose.CONFIRM, user_id=user.id, email=email, now=services().clock())
    return Mail(
        to=email,
        subject="Confirm your address on gpujudge",
        text=f"Hello {user.username},\n\nto confirm that this is your address, open\n\n"
        f"  {base_url()}/account/confirm/{link}\n\nThe link works for a day. "
        "If you have no account there, do nothing.\n",
    )


def send_later(mail: Mail) -> None:
    """Sends a mail after the response."""
    deliver = services().deliver
    services().background.do("mail", lambda: deliver(mail))


def _used_up() -> Problem:
    return Problem(
        404, "link_used", "This link was used, or is older than a day. Ask for a new one on your account page."
    )
