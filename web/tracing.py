"""Gives each request an id, which its log lines, its answer and the jobs that it makes carry, and a span."""

from __future__ import annotations

from http import HTTPStatus
from typing import cast

import structlog
from flask import Flask, Response, g, request

from logs.traces import Span, Traces
from web.settings import WebSettings

#: Requests of browsers for files, and of what watches the site: a span of each would hide the others.
_UNTRACED = frozenset({"static", "health.healthz", "health.readyz", "metrics.metrics"})
_SILENT = Traces()


def traceparent() -> str:
    """Returns the trace context of this request."""
    return cast(Span, g.span).traceparent


def register_tracing(app: Flask, settings: WebSettings, traces: Traces) -> None:
    """Begins a span with each request and ends it with its answer. ``X-Request-Id`` tells the client its id.

    A ``traceparent`` is taken from proxies alone: whoever else sends one could give many requests one id.
    """

    @app.before_request
    def begin() -> None:
        given = request.headers.get("traceparent") if settings.trusted_proxies else None
        made_by = _SILENT if request.endpoint in _UNTRACED else traces
        g.span = made_by.begin(f"{request.method} {request.url_rule or 'unknown'}", parent=given)
        structlog.contextvars.bind_contextvars(trace=g.span.trace_id)

    @app.after_request
    def end(response: Response) -> Response:
        if "span" in g:
            response.headers["X-Request-Id"] = g.span.trace_id
            g.span.set(status=response.status_code, error=_error(response.status_code))
            g.span.end()
        return response

    @app.teardown_request
    def forget(_error: BaseException | None) -> None:
        structlog.contextvars.unbind_contextvars("trace")


def _error(status: int) -> str | None:
    return HTTPStatus(status).phrase if status >= 500 else None
