"""Reads which page of a long table a request asks for."""

from __future__ import annotations

from flask import request


def page_asked_for() -> int:
    """Returns the number in ``?page=``, at least 1; 1 for what is not a number."""
    page = request.args.get("page", "1")
    return max(1, int(page)) if page.isdecimal() and len(page) < 7 else 1
