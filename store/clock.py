"""Time, passed in so that tests need not wait for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

#: Gives the present instant, aware and in UTC.
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The clock of the real world."""
    return datetime.now(UTC)
