"""The file to be judged, and the line in it that names its challenge and device."""

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
    """``content`` is as the file has it, byte for byte: what is wrong with it is for the judge to say."""

    path: Path
    content: bytes
    challenge: str
    device: str

    def text(self) -> str:
        """The content for a JSON request; bytes that are no UTF-8 as lone surrogates, which the server undoes."""
        return self.content.decode("utf-8", "surrogateescape")


def read_source(path: Path, *, challenge: str | None, device: str | None) -> Source:
    """Flags win over the file's own line; the device is the emulator where neither says.

    Raises UsageError when the file cannot be read, its line not understood, or no challenge is named.
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
    """What the file says of itself: ``challenge`` and ``device``, where given."""
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
