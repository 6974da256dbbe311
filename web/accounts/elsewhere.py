"""Signs people in by their accounts elsewhere: any OpenID Connect issuer of the settings, and GitHub.

An account here and one elsewhere belong together by the issuer's unchanging id, never by a name or an e-mail address,
which somebody else may have there.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.flask_client import FlaskOAuth2App, OAuth
from flask import Blueprint, Flask, current_app, flash, redirect, render_template, request, session, url_for
from joserfc.errors import JoseError
from requests import RequestException
from werkzeug.wrappers import Response

from store.models import User
from store.people import accounts, identities
from web.accounts.forms import NameForm
from web.accounts.invitations import check_sign_up, use_invitation
from web.accounts.recovery import base_url
from web.accounts.second_factor import ask_for_code
from web.accounts.visitor import login_required, require_visitor, signed_in, start_session
from web.problems import Problem, sentence
from web.rate_limits import limit_address
from web.security import safe_next
from web.services import reader, services, transaction
from web.settings import WebSettings

log = structlog.get_logger(__name__)

_EXTENSION = "gpujudge.elsewhere"
#: In the signed cookie: where to go afterwards, and who is known elsewhere but has no account here yet.
_NEXT, _INVITE, _NEWCOMER = "elsewhere_next", "elsewhere_invite", "newcomer"
_TIMEOUT_S = 10


@dataclass(frozen=True, slots=True)
class Provider:
    """Where people may sign in: ``key`` is its name in URLs, ``title`` that on buttons."""

    key: str
    title: str
    issuer: str


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the blueprint of accounts."""
    blueprint.add_url_rule("/sign-in/<key>", view_func=sign_in_elsewhere)
    blueprint.add_url_rule("/sign-in/<key>/back", view_func=come_back)
    blueprint.add_url_rule("/welcome", view_func=welcome, methods=["GET", "POST"])
    blueprint.add_url_rule(
        "/identities/<int(max=2147483647):number>/remove", view_func=remove_identity, methods=["POST"]
    )


def register_providers(app: Flask, settings: WebSettings) -> None:
    """Makes a client for each provider of the settings. Asks none of them anything yet."""
    oauth, providers = OAuth(app), []
    common = {"code_challenge_method": "S256", "default_timeout": _TIMEOUT_S}
    for one in settings.oidc:
        oauth.register(
            one.key,
            client_id=one.client_id,
            client_secret=one.client_secret.get_secret_value(),
            server_metadata_url=f"{one.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={"scope": "openid profile", **common},
        )
        providers.append(Provider(one.key, one.title, one.issuer))
    if settings.github_client_id and settings.github_client_secret:
        url = settings.github_url.rstrip("/")
        oauth.register(
            "github",
            client_id=settings.github_client_id,
            client_secret=settings.github_client_secret.get_secret_value(),
            authorize_url=f"{url}/login/oauth/authorize",
            access_token_url=f"{url}/login/oauth/access_token",
            api_base_url="https://api.github.com/" if url == "https://github.com" else f"{url}/api/v3/",
            client_kwargs=common,
        )
        providers.append(Provider("github", "GitHub", url))
    app.extensions[_EXTENSION] = (oauth, {one.key: one for one in providers})
    app.context_processor(lambda: {"providers": providers})


@limit_address
def sign_in_elsewhere(key: str) -> Response:
    """Sends the visitor to the provider."""
    provider, client = _provider(key)
    session[_NEXT] = safe_next(request.args.get("next"), "")
    session[_INVITE] = request.args.get("invite", "")
    address = f"{base_url()}{url_for('accounts.come_back', key=key)}"
    try:
        answer: Response = client.authorize_redirect(address)
    except (RequestException, AuthlibBaseError, RuntimeError) as error:
        raise _failed(provider, error) from None
    return answer


@limit_address
def come_back(key: str) -> Response:
    """Takes the provider's answer: logs in, adds the identity to the logged-in account, or leads to ``welcome``."""
    provider, client = _provider(key)
    try:
        subject, name = _who(provider, client)
    except (RequestException, AuthlibBaseError, JoseError, RuntimeError, KeyError, ValueError) as error:
        raise _failed(provider, error) from None
    next_url = safe_next(session.pop(_NEXT, ""), url_for("challenges.index"))
    known = identities.find_identity(reader(), issuer=provider.issuer, subject=subject)
    visitor = signed_in()
    if visitor is not None:
        if known is None:
            _add(visitor.id, provider, subject, name)
            flash(f"You can now sign in with {provider.title}.", "success")
        elif known.user_id != visitor.id:
            raise Problem(
                409, "identity_taken", f"Another account here signs in with that account of {provider.title}."
            )
        return redirect(url_for("accounts.settings"))
    if known is None:
        check_sign_up(session.get(_INVITE, ""))
        session[_NEWCOMER] = [provider.key, subject, name, next_url]
        return redirect(url_for("accounts.welcome"))
    if not known.user.may_sign_in:
        raise Problem(403, "closed", "This account is closed or suspended. The site's operator can say why.")
    if known.user.totp_secret is not None:
        return ask_for_code(known.user, next_url)
    with transaction() as writer:
        start_session(writer, known.user)
    return redirect(next_url)


@limit_address
def welcome() -> str | Response | tuple[str, int]:
    """Asks somebody who is known elsewhere for a user name, and creates the account."""
    if _NEWCOMER not in session:
        return redirect(url_for("accounts.log_in"))
    key, subject, name, next_url = session[_NEWCOMER]
    invite = session.get(_INVITE, "")
    check_sign_up(invite)
    provider, _ = _provider(key)
    form = NameForm(username=name)
    if form.validate_on_submit():
        now = services().clock()
        try:
            with transaction() as writer:
                user = accounts.create_user(writer, username=form.username.data, password=None, now=now)
                use_invitation(writer, invite)
                identities.add_identity(
                    writer, user_id=user.id, issuer=provider.issuer, subject=subject, name=name, now=now
                )
                start_session(writer, user)
        except accounts.AccountError as error:
            form.username.errors = (sentence(str(error)),)
        else:
            flash(f"Welcome, {user.username}.", "success")
            return redirect(safe_next(next_url, url_for("challenges.index")))
    page = render_template("accounts/welcome.html", form=form, provider=provider)
    return (page, 422) if form.errors else page


@login_required
def remove_identity(number: int) -> Response:
    """Removes a way to sign in. Refuses to remove the last one of an account without a password."""
    with transaction() as writer:
        user = writer.get_one(User, require_visitor().id)
        mine = identities.list_identities(writer, user_id=user.id)
        if number not in [one.id for one in mine]:
            raise Problem(404, "not_found", "You have no such account elsewhere.")
        if user.password_hash is None and len(mine) == 1:
            message = "You have no password, so this is your only way in. Set a password first, by a reset link."
            raise Problem(409, "last_way_in", message)
        identities.remove_identity(writer, user_id=user.id, number=number)
    flash("That account no longer signs you in.", "success")
    return redirect(url_for("accounts.settings"))


def _add(user_id: int, provider: Provider, subject: str, name: str) -> None:
    with transaction() as writer:
        identities.add_identity(
            writer, user_id=user_id, issuer=provider.issuer, subject=subject, name=name, now=services().clock()
        )


def _provider(key: str) -> tuple[Provider, FlaskOAuth2App]:
    """Returns the provider and its client. Raises Problem (404)."""
    oauth, providers = current_app.extensions[_EXTENSION]
    if key not in providers:
        raise Problem(404, "not_found", "Nobody signs in here that way.")
    return providers[key], oauth.create_client(key)


def _who(provider: Provider, client: FlaskOAuth2App) -> tuple[str, str]:
    """Returns the unchanging id and the name of whom the provider vouches for. Raises what Authlib raises."""
    token = client.authorize_access_token()
    if provider.key == "github":
        answer = client.get("user", token=token)
        answer.raise_for_status()
        person = answer.json()
        return str(person["id"]), str(person["login"])[:255]
    # Authlib has checked the token's signature, issuer, audience, nonce and time.
    person = token["userinfo"]
    return str(person["sub"]), str(person.get("preferred_username") or person.get("nickname") or "")[:255]


def _failed(provider: Provider, error: Exception) -> Problem:
    log.warning("sign-in elsewhere failed", provider=provider.key, error=str(error))
    return Problem(502, "sign_in_failed", f"{provider.title} did not confirm who you are. Try again, or log in here.")
