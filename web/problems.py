"""Errors for the user: views raise them, and ``web.errors`` renders them as a page or as JSON."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class Problem(Exception):
    """An error response. ``code`` is for programs, ``message`` for people; ``nearest`` lists similar names."""

    def __init__(
        self, status: int, code: str, message: str, *, nearest: Iterable[str] = (), retry_after_s: int | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.nearest = tuple(nearest)
        self.retry_after_s = retry_after_s


def unknown(kind: str, name: str, known: Iterable[str]) -> Problem:
    """Returns a 404 for an unknown challenge or device (``kind``), with the nearest of the ``known`` names."""
    known = sorted(known)
    nearest = difflib.get_close_matches(name.casefold(), known, n=3, cutoff=0.5)
    if not nearest:
        nearest = [candidate for candidate in known if candidate.startswith(name.casefold()[:3])][:3] if name else []
    message = f"There is no {kind} called “{name[:80]}”."
    if not nearest and 0 < len(known) <= 8:
        message += f" There {'is' if len(known) == 1 else 'are'}: {', '.join(known)}."
    return Problem(404, f"unknown_{kind}", message, nearest=nearest)
