"""The pages by which a lost password is replaced.

The request is answered before anything is looked up, so neither the answer nor its time tells whether there is such an
account. A link works once, for half an hour; opening it uses nothing up, since mail scanners open links, too.
"""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from store.models import User
from store.people import accounts
from store.people.links import Purpose, create_link, find_link, use_link
from store.people.passwords import hash_password
from web.accounts.forms import ForgotForm, ResetForm, refuse_weak
from web.accounts.visitor import end_session
from web.mail import Mail, mail_folder
from web.problems import Problem
from web.rate_limits import limit_address, limit_mails
from web.services import Services, reader, release_reader, services, transaction
from web.site import site_settings

_LOCAL_ADDRESSES = frozenset({"127.0.0.1", "::1"})


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the blueprint of accounts."""
    blueprint.add_url_rule("/forgot", view_func=forgot, methods=["GET", "POST"])
    blueprint.add_url_rule("/reset/<text>", view_func=reset, methods=["GET", "POST"])


@limit_mails
def forgot() -> str | tuple[str, int]:
    """Mails a reset link to the confirmed address of an account, which is found by its name or that address."""
    form = ForgotForm()
    if form.validate_on_submit():
        if site_settings().email != "off":
            site, site_url, asked = services(), base_url(), form.username.data.strip().strip()
            site.background.do("reset mail", lambda: _mail_reset(site, site_url, asked))
        return render_template("accounts/forgot.html", form=None, folder=_folder_for_operator())
    page = render_template("accounts/forgot.html", form=form, folder=_folder_for_operator())
    return (page, 422) if form.errors else page


@limit_address
def reset(text: str) -> str | Response | tuple[str, int]:
    """Sets a new password by a link, ends all sessions and, if asked, revokes the tokens."""
    now = services().clock()
    link = find_link(reader(), Purpose.RESET, text, now=now)
    user = None if link is None or link.user_id is None else reader().get_one(User, link.user_id)
    if user is None or not user.may_sign_in:
        raise _used_up()
    form = ResetForm()
    if not form.validate_on_submit() or refuse_weak(form.new, username=user.username):
        page = render_template("accounts/reset.html", form=form, username=user.username)
        return (page, 422) if form.errors else page
    release_reader()
    hashed = hash_password(form.new.data)
    with transaction() as writer:
        used = use_link(writer, Purpose.RESET, text, now=now)
        if used is None or used.user_id is None:
            raise _used_up()
        owner = writer.get_one(User, used.user_id)
        accounts.change_password(writer, user=owner, password_hash=hashed)
        if form.revoke_tokens.data:
            accounts.revoke_all_tokens(writer, user=owner)
    end_session()
    flash("The password is changed, and all sessions are logged out. Log in with the new one.", "success")
    return redirect(url_for("accounts.log_in"))


def base_url() -> str:
    """Returns the address that links in mails begin with. Never the request's, if the mail leaves this machine."""
    settings = services().settings
    return settings.public_url or (request.url_root.rstrip("/") if settings.smtp_url is None else settings.site_url)


def _mail_reset(site: Services, site_url: str, asked: str) -> None:
    with site.writers.begin() as writer:
        user = accounts.find_user_by_email(writer, asked) if "@" in asked else accounts.find_user(writer, asked)
        if user is None or not user.may_sign_in or user.email is None:
            return
        text = create_link(writer, Purpose.RESET, user_id=user.id, now=site.clock())
        to, username = user.email, user.username
    site.deliver(
        Mail(
            to=to,
            subject="Your password on gpujudge",
            text=f"Hello {username},\n\nsomebody asked to reset your password. To choose a new one, open\n\n"
            f"  {site_url}/account/reset/{text}\n\nThe link works once, within 30 minutes. "
            "If that was not you, do nothing: your password stays as it is.\n",
        )
    )


def _folder_for_operator() -> str | None:
    """Returns the folder into which mails go instead of to people; None for whoever is not at this machine."""
    folder = mail_folder(services().settings)
    return None if folder is None or request.remote_addr not in _LOCAL_ADDRESSES else str(folder)


def _used_up() -> Problem:
    return Problem(404, "link_used", "This link was used, or is older than 30 minutes. Ask for a new one.")
