"""Column types that behave alike on SQLite and PostgreSQL."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Integer
from sqlalchemy.types import TypeDecorator

#: A 64-bit primary key; SQLite numbers rows by itself only for a column called INTEGER.
BigKey = BigInteger().with_variant(Integer, "sqlite")


class UtcDateTime(TypeDecorator[datetime]):
    """An instant: always aware, always UTC. A naive datetime is refused rather than guessed at."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive datetime is no instant: pass one with a time zone")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class PlainJson(TypeDecorator[Any]):
    """JSON that every database accepts: what a submission printed may hold NULs, lone surrogates, NaN and infinities,
    which PostgreSQL or strict readers refuse. Numbers that are not finite become ``"nan"``, ``"inf"``, ``"-inf"``."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        return plain_json(value)


def plain_json(value: Any) -> Any:
    """A copy of ``value`` that any JSON reader takes. Keys become strings."""
    if isinstance(value, dict):
        return {_plain_text(str(key)): plain_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, str):
        return _plain_text(value)
    return value


def _plain_text(text: str) -> str:
    clean = text.replace("\x00", "\ufffd")
    if clean.isascii():
        return clean
    # Only surrogates cannot be encoded; the question mark that "replace" gives is made the usual sign.
    return clean.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
