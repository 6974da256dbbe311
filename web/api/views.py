"""The blueprint of the API: its parts, its document, and what holds for every request to it."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request
from werkzeug.exceptions import UnsupportedMediaType

from web.api import accounts, challenges, leaderboards, submissions
from web.api.spec import spec
from web.problems import Problem

blueprint = Blueprint("api", __name__, url_prefix="/api/v1")
for part in (challenges, accounts, submissions, leaderboards):
    part.register(blueprint)


@blueprint.before_request
def read_body() -> None:
    """A body is JSON, and an object: said here, since the document's own check takes anything else for an empty one."""
    if not (request.content_length or "Transfer-Encoding" in request.headers):
        return
    if request.method not in {"POST", "PUT", "PATCH"}:
        return
    if not request.is_json:
        raise UnsupportedMediaType
    if not isinstance(request.get_json(), dict):
        raise Problem(422, "invalid", "The body must be a JSON object.")


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """The OpenAPI document."""
    return jsonify(spec.spec)
