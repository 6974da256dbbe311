"""The API's blueprint: its routes, its OpenAPI document and the check of request bodies."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request
from werkzeug.exceptions import UnsupportedMediaType

from web.api import (
    accounts,
    assignments,
    challenges,
    class_platforms,
    class_staff,
    class_work,
    classes,
    comments,
    contest_trials,
    contests,
    drafts,
    leaderboards,
    people,
    private_packs,
    solutions,
    submissions,
    tracks,
)
from web.api.admin import routes as admin
from web.api.spec import document, revalidated
from web.problems import Problem

blueprint = Blueprint("api", __name__, url_prefix="/api/v1")
for part in (
    challenges,
    drafts,
    tracks,
    accounts,
    submissions,
    leaderboards,
    people,
    solutions,
    contests,
    contest_trials,
    classes,
    class_platforms,
    class_staff,
    assignments,
    class_work,
    private_packs,
    comments,
    admin,
):
    part.register(blueprint)


@blueprint.before_request
def read_body() -> None:
    """Requires request bodies to be JSON objects: SpecTree would treat anything else as an empty object."""
    if not (request.content_length or "Transfer-Encoding" in request.headers):
        return
    if request.method not in {"POST", "PUT", "PATCH"}:
        return
    if not request.is_json:
        raise UnsupportedMediaType
    if not isinstance(request.get_json(), dict):
        raise Problem(422, "invalid", "The body must be a JSON object.")


@blueprint.get("/openapi.json")
@revalidated
def openapi() -> Response:
    """Returns the OpenAPI document."""
    return jsonify(document())
