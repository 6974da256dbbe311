"""API endpoints for tokens and their owner."""

from __future__ import annotations

from datetime import timedelta

from flask import Blueprint

from store.models import Role, User
from store.people import accounts
from store.people.accounts import ADMIN_SCOPE, SCOPES, AccountError
from store.people.second_factor import use_code
from web.accounts.credentials import check_credentials
from web.api import schemas
from web.api.auth import api_visitor, token_required
from web.api.spec import operation
from web.problems import Problem, sentence
from web.rate_limits import limit_log_ins
from web.services import services, transaction

TAG = "accounts"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    blueprint.add_url_rule("/tokens", view_func=create_token, methods=["POST"])
    blueprint.add_url_rule("/me", view_func=get_me)


@operation(schemas.Token, 400, 401, 403, 409, 413, 415, 422, 429, status=201, token=False, tag=TAG)
@limit_log_ins
def create_token(json: schemas.TokenRequest) -> tuple[schemas.Token, int]:
    """Creates a token for a user name and a password."""
    user = check_credentials(json.username, json.password)
    if user is None:
        raise Problem(401, "unauthorized", "The user name or the password is wrong.")
    if ADMIN_SCOPE in json.scopes and not Role(user.role).includes(Role.OPERATOR):
        raise Problem(403, "role", f"Only operators may make a token with the scope {ADMIN_SCOPE}.")
    now = services().clock()
    try:
        with transaction() as writer:
            if user.totp_secret is not None and not use_code(
                writer, user=writer.get_one(User, user.id), code=json.code or "", now=now
            ):
                message = "This account has a second factor. Send its code, or make a token on the account page."
                raise Problem(401, "second_factor", message)
            token, text = accounts.create_token(
                writer,
                user=writer.get_one(User, user.id),
                name=json.name,
                scopes=[scope for scope in (*SCOPES, ADMIN_SCOPE) if scope in json.scopes],
                expires_at=None if json.expires_days is None else now + timedelta(days=json.expires_days),
                now=now,
            )
    except AccountError as error:
        raise Problem(409, "too_many_tokens", sentence(str(error))) from None
    answer = schemas.Token(token=text, name=json.name, scopes=token.scopes.split(), expires_at=token.expires_at)
    return answer, 201


@token_required
@operation(schemas.Me, tag=TAG)
def get_me() -> schemas.Me:
    """Returns the owner of the token."""
    return schemas.Me(username=api_visitor().username)
