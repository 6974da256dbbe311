"""Fields that several forms have."""

from __future__ import annotations

from datetime import UTC, datetime

from wtforms import DateTimeLocalField


class UtcField(DateTimeLocalField):
    """A moment in UTC, as the browser's field has it: without a time zone, also where it is that of an object."""

    def process_data(self, value: datetime | None) -> None:
        """Takes the moment of an object, which has a time zone."""
        self.data = None if value is None else value.astimezone(UTC).replace(tzinfo=None)
