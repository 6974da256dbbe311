"""Gives each request an id that its logs and those of its jobs share, and sends traces to a collector by OTLP/HTTP.

The id is that of a W3C trace context, in the form of the header ``traceparent``: a job's row carries it from the
website to the workers. Ids are made whether or not traces are sent; they are if ``GPUJUDGE_TRACES_URL`` is set.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

Attribute = str | int | float | None

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")
#: A collector that does not answer loses spans, and delays the end of a process by no more.
_EXPORT_S = 5.0


class TracesMissing(RuntimeError):
    """Raised when traces are to be sent and the packages for it are not installed."""


class TraceSettings(BaseSettings):
    """``traces_url``: where spans are sent by OTLP/HTTP, such as ``http://collector:4318/v1/traces``; None: nowhere."""

    model_config = SettingsConfigDict(env_prefix="GPUJUDGE_", frozen=True, extra="ignore")

    traces_url: str | None = Field(default=None, examples=["http://collector:4318/v1/traces"])

    @field_validator("traces_url")
    @classmethod
    def _http(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("give an address such as http://collector:4318/v1/traces")
        return value


@dataclass(frozen=True, slots=True)
class Span:
    """A step of a trace. ``traceparent`` is what steps within it are given as their parent."""

    trace_id: str
    span_id: str
    _recorded: Any = field(default=None, repr=False)

    @property
    def traceparent(self) -> str:
        """The span as the W3C's header ``traceparent`` names it."""
        return f"00-{self.trace_id}-{self.span_id}-01"

    def set(self, **attributes: Attribute) -> None:
        """Sets attributes, without those that are None."""
        if self._recorded is not None:
            self._recorded.set_attributes(_known(attributes))

    def end(self, at: datetime | None = None) -> None:
        """Ends the step, now unless ``at`` is given."""
        if self._recorded is not None:
            self._recorded.end(None if at is None else _nanoseconds(at))


class Traces:
    """Makes spans. Without a ``provider`` (of OpenTelemetry) they have ids and are not recorded."""

    def __init__(self, provider: Any = None) -> None:
        self._provider = provider
        self._tracer = None if provider is None else provider.get_tracer("gpujudge")

    def begin(
        self,
        name: str,
        *,
        parent: str | None = None,
        at: datetime | None = None,
        **attributes: Attribute,
    ) -> Span:
        """Begins a span within ``parent`` (a ``traceparent``), or a new trace. The caller ends it."""
        known = None if parent is None else _TRACEPARENT.fullmatch(parent)
        if self._tracer is None:
            return Span(secrets.token_hex(16) if known is None else known[1], secrets.token_hex(8))
        from opentelemetry import trace

        context = trace.set_span_in_context(trace.INVALID_SPAN)
        if known is not None:
            outer = trace.SpanContext(int(known[1], 16), int(known[2], 16), True, trace.TraceFlags(1))
            context = trace.set_span_in_context(trace.NonRecordingSpan(outer))
        recorded = self._tracer.start_span(
            name, context, attributes=_known(attributes), start_time=None if at is None else _nanoseconds(at)
        )
        ids = recorded.get_span_context()
        return Span(f"{ids.trace_id:032x}", f"{ids.span_id:016x}", recorded)

    @contextlib.contextmanager
    def span(self, name: str, *, parent: str | None = None, **attributes: Attribute) -> Iterator[Span]:
        """Begins a span that ends with the block."""
        span = self.begin(name, parent=parent, at=None, **attributes)
        try:
            yield span
        finally:
            span.end()

    def record(
        self, name: str, *, parent: str | None, began: datetime, ended: datetime, **attributes: Attribute
    ) -> None:
        """Records a span that is over."""
        if self._tracer is not None:
            self.begin(name, parent=parent, at=began, **attributes).end(ended)

    def close(self) -> None:
        """Sends the recorded spans that are not sent yet. Idempotent."""
        if self._provider is not None:
            self._provider.shutdown()


def make_traces(settings: TraceSettings, *, process: str) -> Traces:
    """Returns the maker of a process's spans. Raises TracesMissing."""
    if settings.traces_url is None:
        return Traces()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise TracesMissing(
            f"GPUJUDGE_TRACES_URL needs, in a clone of gpujudge, pip install '.[traces]' ({error})"
        ) from None
    provider = TracerProvider(resource=Resource({"service.name": "gpujudge", "gpujudge.process": process}))
    exporter = OTLPSpanExporter(settings.traces_url, timeout=_EXPORT_S)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return Traces(provider)


def trace_id_of(traceparent: str | None) -> str | None:
    """Returns the id that a ``traceparent`` holds, or None."""
    known = None if traceparent is None else _TRACEPARENT.fullmatch(traceparent)
    return None if known is None else known[1]


def _known(attributes: dict[str, Attribute]) -> dict[str, Any]:
    return {f"gpujudge.{name}": value for name, value in attributes.items() if value is not None}


def _nanoseconds(at: datetime) -> int:
    return round(at.timestamp() * 1e6) * 1000
