"""Reads a list of challenges that somebody typed into a form."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from wtforms import ValidationError


def read_slugs(text: str | None) -> list[str]:
    """Returns the names in their order, each once; spaces and commas separate them."""
    return list(dict.fromkeys((text or "").replace(",", " ").split()))


def check_slugs(slugs: Collection[str], known: Collection[str], *, most: int) -> None:
    """Raises ValidationError for none, for too many, and for the name of no challenge, with names that are near."""
    if not slugs:
        raise ValidationError("Name at least one challenge.")
    unknown = [slug for slug in slugs if slug not in known]
    if unknown:
        near = difflib.get_close_matches(unknown[0], list(known), n=3, cutoff=0.5)
        hint = f" Nearest: {', '.join(near)}." if near else ""
        raise ValidationError(f"There is no challenge {unknown[0]}.{hint}")
    if len(slugs) > most:
        raise ValidationError(f"Name at most {most} challenges.")
