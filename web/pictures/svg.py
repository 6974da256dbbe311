"""Fills shapes of SVG with values: pictures on pages have hundreds of them."""

from __future__ import annotations

from datetime import datetime

from markupsafe import Markup, escape


class Shape:
    """An SVG element with places for values, as in ``str.format``."""

    __slots__ = ("_template",)

    def __init__(self, template: str) -> None:
        self._template = template

    def format(self, *values: str | float | datetime) -> Markup:
        """Returns the element with the values, text escaped. ``Markup.format`` takes six times as long."""
        return Markup(self._template.format(*(escape(each) if isinstance(each, str) else each for each in values)))  # noqa: S704 (text is escaped)
