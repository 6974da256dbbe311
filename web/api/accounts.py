"""API endpoints for tokens and their owner."""

from __future__ import annotations

from flask import Blueprint

from store.accounts import check_password, create_token
from store.models import User
from web.api import schemas
from web.api.auth import api_visitor, token_required
from web.api.spec import operation
from web.problems import Problem
from web.rates import limit_log_ins
from web.services import reader, services, transaction

TAG = "accounts"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    blueprint.add_url_rule("/tokens", view_func=make_token, methods=["POST"])
    blueprint.add_url_rule("/me", view_func=me)


@limit_log_ins
@operation(schemas.Token, 400, 401, 413, 415, 422, 429, status=201, token=False, tag=TAG)
def make_token(json: schemas.TokenRequest) -> tuple[schemas.Token, int]:
    """Creates a token for a user name and a password."""
    user = check_password(reader(), json.username, json.password)
    if user is None:
        raise Problem(401, "unauthorized", "The user name or the password is wrong.")
    with transaction() as writer:
        owner = writer.get_one(User, user.id)
        _, text = create_token(writer, user=owner, name=json.name, now=services().clock())
    return schemas.Token(token=text, name=json.name), 201


@token_required
@operation(schemas.Me, tag=TAG)
def me() -> schemas.Me:
    """Returns the owner of the token."""
    return schemas.Me(username=api_visitor().username)
