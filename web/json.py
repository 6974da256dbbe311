"""Reads the JSON of requests."""

from __future__ import annotations

from typing import Any

from flask.json.provider import DefaultJSONProvider


class Json(DefaultJSONProvider):
    """Flask's JSON, in which what is nested too deeply for the parser is as invalid as any other text."""

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """Returns the value. Raises ValueError, which Flask answers with 400."""
        try:
            return super().loads(s, **kwargs)
        except RecursionError:
            raise ValueError("the JSON is nested too deeply") from None
