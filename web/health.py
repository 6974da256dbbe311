"""Is the process alive, and can it do its work: for load balancers, containers and people."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from web.services import reader, services

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    """The process answers; nothing else is asked."""
    return jsonify(status="ok")


@blueprint.get("/readyz")
def readyz() -> tuple[Response, int]:
    """503 when the database is away. A broker that is away is reported but is no reason to stop sending people here:
    submissions are accepted, and workers find them by themselves."""
    database = _database_answers()
    broker = services().broker_answers()
    body = jsonify(
        status="ok" if database and broker else "degraded" if database else "unavailable",
        database="ok" if database else "away",
        broker="ok" if broker else "away",
        challenges=len(services().packs),
    )
    return body, 200 if database else 503


def _database_answers() -> bool:
    try:
        reader().execute(text("SELECT 1"))
    except SQLAlchemyError:
        return False
    return True
