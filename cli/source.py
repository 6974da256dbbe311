"""Reads the file to judge, and the line in it that names its challenge and device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from cli.errors import UsageError

#: ``// gpujudge: challenge=softmax device=emulator``, among the first lines of the file.
_DIRECTIVE = re.compile(rb"^[ \t]*//[ \t]*gpujudge:[ \t]*(?P<words>[^\r\n]*)", re.MULTILINE)
_DIRECTIVE_WITHIN_BYTES = 4096
DEFAULT_DEVICE = "emulator"


@dataclass(frozen=True, slots=True)
class Source:
    """A source file. ``content`` holds its bytes unchanged: the judge reports what is wrong with them."""

    path: Path
    content: bytes
    challenge: str
    device: str

    def text(self) -> str:
        """Returns the content as text for JSON. Invalid UTF-8 becomes lone surrogates, which the server undoes."""
        return self.content.decode("utf-8", "surrogateescape")


def read_source(path: Path, *, challenge: str | None, device: str | None) -> Source:
    """Reads a source. Options override the line in the file; the default device is the emulator.

    Raises UsageError if the file cannot be read, its line is malformed, or no challenge is named.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    named = parse_directive(content)
    challenge = challenge or named.get("challenge")
    if not challenge:
        raise UsageError(
            f"which challenge is {path.name} for?",
            hint="Say --challenge SLUG, or begin the file with `// gpujudge: challenge=SLUG`.",
        )
    return Source(path, content, challenge, device or named.get("device") or DEFAULT_DEVICE)


def parse_directive(content: bytes) -> dict[str, str]:
    """Returns ``challenge`` and ``device`` from the file's ``// gpujudge:`` line. Raises UsageError."""
    match = _DIRECTIVE.search(content[:_DIRECTIVE_WITHIN_BYTES])
    if match is None:
        return {}
    named: dict[str, str] = {}
    for word in match["words"].decode("utf-8", "replace").split():
        key, equals, value = word.partition("=")
        if key not in ("challenge", "device") or not equals or not value:
            raise UsageError(f"`// gpujudge:` does not know {word!r}", hint="It takes challenge=SLUG and device=NAME.")
        named[key] = value
    return named
