"""Defines column types that behave the same on SQLite and PostgreSQL."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Integer
from sqlalchemy.types import TypeDecorator

from judge.judgement_json import to_json

#: A 64-bit primary key. SQLite numbers rows automatically only if the column type is INTEGER.
BigKey = BigInteger().with_variant(Integer, "sqlite")


class UtcDateTime(TypeDecorator[datetime]):
    """Stores a timezone-aware datetime in UTC. Raises ValueError for a naive one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Returns the time in UTC, naive for SQLite, which has no time zones."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive datetime is not an instant: pass one with a time zone")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Returns the stored time with UTC as its zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class PlainJson(TypeDecorator[Any]):
    """Stores JSON that every database and strict reader accepts.

    A submission's output may contain NULs, lone surrogates, NaN and infinities, which PostgreSQL rejects. Non-finite
    numbers become ``"nan"``, ``"inf"`` or ``"-inf"``; invalid characters become U+FFFD.
    """

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """Returns the value as ``plain_json`` makes it."""
        return plain_json(value)


class JudgementPart(TypeDecorator[Any]):
    """Stores a judgement or a part of one as JSON.

    ``read`` builds the object from the stored JSON. Raises UnreadableJudgement.
    """

    impl = JSON(none_as_null=True)
    cache_ok = True

    def __init__(self, read: Callable[[Mapping[str, Any]], object]) -> None:
        super().__init__()
        self.read = read

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """Returns the JSON of a judgement or a part of one."""
        return None if value is None else plain_json(to_json(value))

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """Returns the object that ``read`` builds."""
        return None if value is None else self.read(value)


def plain_json(value: Any) -> Any:
    """Returns a copy of ``value`` that is valid strict JSON. Keys become strings."""
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
    # Decoding turns each lone surrogate into U+FFFD; encoding with "replace" would give a question mark instead.
    return clean.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
