"""Names a board: a challenge on a device, for a major version of its pack and a metric.

A board over all languages has entries in each, so the language is not part of its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: The columns that every table with rows of boards has.
BOARD_COLUMNS = ("challenge", "device_key", "pack_major", "metric")


@dataclass(frozen=True, slots=True)
class BoardKey:
    """Identifies a board. ``metric`` None stands for any: callers say which one they take."""

    challenge: str
    device_key: str
    pack_major: int
    metric: str | None = None

    @classmethod
    def of(cls, row: Any) -> BoardKey:
        """Returns the board of a row; for one without a metric, as submissions are, of any metric."""
        return BoardKey(row.challenge, row.device_key, row.pack_major, getattr(row, "metric", None))

    @property
    def columns(self) -> dict[str, Any]:
        """Returns the values of the columns that the board's rows have in common."""
        values = {name: getattr(self, name) for name in BOARD_COLUMNS}
        return {name: value for name, value in values.items() if value is not None}
