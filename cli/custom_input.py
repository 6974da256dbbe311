"""Reads the input of one's own that ``--set`` and ``--input`` describe."""

from __future__ import annotations

from pathlib import Path

from cli.errors import UsageError


def read_custom_input(sizes: list[str] | None, contents: list[str] | None) -> dict[str, str] | None:
    """Returns texts by name (judge.packs.custom.case); None where neither option is given. Raises UsageError."""
    if not sizes and not contents:
        return None
    made: dict[str, str] = {}
    for option, given in (("--set", sizes or []), ("--input", contents or [])):
        for text in given:
            name, equals, value = (part.strip() for part in text.partition("="))
            if not equals or not name or not value:
                example = "N=1000" if option == "--set" else "'A=uniform -1 1'"
                raise UsageError(f"{option} {text!r} is not NAME=VALUE", hint=f"For example: {option} {example}")
            if name in made:
                raise UsageError(f"{name} is given twice")
            made[name] = _contents_of(value[1:]) if value.startswith("@") and option == "--input" else value
    return made


def _contents_of(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"cannot read {path}: {reason}") from None
