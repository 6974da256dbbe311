"""Error responses: a page for people, ``application/problem+json`` (RFC 9457) under ``/api``. Never a stack trace."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import structlog
from flask import Flask, Response, g, make_response, render_template, request
from flask_wtf.csrf import CSRFError
from sqlalchemy.exc import DataError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from werkzeug.exceptions import HTTPException

from store.people.passwords import HashersBusyError
from web.problems import Problem

log = structlog.get_logger(__name__)

#: The media type of RFC 9457.
PROBLEM_JSON = "application/problem+json"
#: What a 401 under /api asks for (RFC 6750).
BEARER = 'Bearer realm="gpujudge"'

#: Codes and messages for the errors that Flask itself raises, by status.
_PROBLEMS = {
    400: ("bad_request", "That request could not be understood."),
    401: ("unauthorized", "Log in first."),
    403: ("forbidden", "You may not do that."),
    404: ("not_found", "There is nothing here."),
    405: ("method_not_allowed", "This address does not take that kind of request."),
    406: ("not_acceptable", "This address has nothing of the kind that the header Accept asks for."),
    409: ("conflict", "That conflicts with what is there already."),
    413: ("too_large", "That is too large. A source file may have 256 KiB."),
    415: ("unsupported_media_type", "Send JSON, with the header Content-Type: application/json."),
    422: ("invalid", "Some of what was sent is not valid."),
    500: ("internal_error", "Something went wrong here. It was written to the log; what you submitted before is safe."),
    503: ("unavailable", "The server cannot do that just now."),
}
DATABASE_AWAY = Problem(
    503,
    "database_unavailable",
    "The database cannot be reached just now. Nothing that was accepted is lost; what you just sent was not accepted, "
    "so send it again when this page is gone.",
    retry_after_s=5,
)


def wants_json() -> bool:
    """Returns whether the client expects JSON: under ``/api``, or by its ``Accept`` header."""
    if request.path.startswith("/api/") or request.path == "/api":
        return True
    return request.accept_mimetypes.best_match(["text/html", "application/json"]) == "application/json"


def answer(problem: Problem) -> Response:
    """Returns a problem as a response, in JSON or HTML as the client expects."""
    if wants_json():
        response = make_response(problem_json(problem), problem.status)
        response.mimetype = PROBLEM_JSON
    else:
        response = make_response(render_template("errors/error.html", problem=problem), problem.status)
    if problem.status == 401 and request.path.startswith("/api/"):
        response.headers["WWW-Authenticate"] = BEARER
    response.headers.update(problem.headers)
    if "Retry-After" in problem.headers:
        g.retry_after_s = problem.headers["Retry-After"]  # the limiter would put another in its place
    response.headers["Cache-Control"] = "no-store"
    return response


def problem_json(problem: Problem) -> dict[str, Any]:
    """Returns the members of RFC 9457, and of ours ``code``, ``nearest`` and ``fields``.

    The type is ``about:blank``, so the title is that of the status; ``code`` tells problems of one status apart.
    """
    return {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.message,
        "code": problem.code,
        "nearest": list(problem.nearest),
        "fields": problem.fields,
    }


def register_error_handlers(app: Flask) -> None:
    """Registers a handler for each kind of error, down to any unexpected exception."""

    @app.errorhandler(Problem)
    def problem(error: Problem) -> Response:
        return answer(error)

    @app.errorhandler(CSRFError)
    def csrf_failed(_error: CSRFError) -> Response:
        return answer(
            Problem(400, "csrf", "This form is too old, or did not come from this site. Reload the page and try again.")
        )

    @app.errorhandler(HTTPException)
    def http(error: HTTPException) -> Response:
        if error.response is not None:
            return make_response(error.response)
        status = error.code or 500
        code, message = _PROBLEMS.get(status, ("error", error.description or "That did not work."))
        # Keeps headers such as Allow and Retry-After, but not the type of the body that is replaced.
        response = answer(Problem(status, code, message))
        for name, value in error.get_headers(request.environ):
            if name not in {"Content-Type", "Content-Length"}:
                response.headers[name] = value
        return response

    @app.errorhandler(HashersBusyError)
    def hashers_busy(_error: HashersBusyError) -> Response:
        message = "Many people are logging in right now. Wait a few seconds and try again."
        return answer(Problem(503, "busy", message, retry_after_s=5))

    @app.errorhandler(PoolTimeoutError)
    @app.errorhandler(OperationalError)
    def database_away(error: Exception) -> Response:
        log.error("database away", error=str(error), path=request.path)
        g.database_away = True
        return answer(DATABASE_AWAY)

    @app.errorhandler(DataError)
    def invalid_data(error: DataError) -> Response:
        # PostgreSQL rejects NUL in text and numbers out of range, so no row can match such a request.
        log.info("refused by the database", error=str(error.orig), path=request.path)
        return answer(Problem(400, *_PROBLEMS[400]))

    @app.errorhandler(DBAPIError)
    def database_failed(error: DBAPIError) -> Response:
        if error.connection_invalidated:
            return database_away(error)
        return unexpected(error)

    @app.errorhandler(Exception)
    def unexpected(error: Exception) -> Response:
        log.exception("request failed", path=request.path, method=request.method, exc_info=error)
        return answer(Problem(500, *_PROBLEMS[500]))
