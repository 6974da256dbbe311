"""The names that somebody who mistyped one may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from cli.errors import UsageError


def unknown(what: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a ``name`` that is none of ``known``."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"Nearest: {', '.join(near)}." if near else f"There are: {', '.join(known) or 'none'}."
    return UsageError(f"there is no {what} {name!r}", hint=hint)
