"""Errors for the user: views raise them, and ``web.errors`` renders them as a page or as JSON."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping


class Problem(Exception):
    """An error response. ``code`` is for programs, ``message`` for people; ``nearest`` lists similar names.

    ``fields`` says what is wrong with each invalid field, ``headers`` are those of the response.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        nearest: Iterable[str] = (),
        fields: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.nearest = tuple(nearest)
        self.fields = dict(fields or {})
        self.headers = dict(headers or {})
        if retry_after_s is not None:
            self.headers["Retry-After"] = str(retry_after_s)


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


def sentence(text: str) -> str:
    """Returns an error's message as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."
