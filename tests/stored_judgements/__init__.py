"""Judgements as they stand in databases, one JSON file for each kind.

The name of a file begins with the version of its form.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

STORED = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.json"))}


def load_stored(name: str) -> dict[str, Any]:
    """Returns the JSON of one."""
    found: dict[str, Any] = json.loads(STORED[name].read_text("utf-8"))
    return found
