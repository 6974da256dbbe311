"""Supplies the current time as a parameter, so that tests can control it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

#: Returns the current time, timezone-aware, in UTC.
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Returns the system time."""
    return datetime.now(UTC)
