"""Reads the file to judge, and the line in it that names its challenge and device."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cli.console import say
from cli.errors import UsageError
from cli.headers import with_headers
from judge.compile.source_files import split_files
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.settings import BuildLimits
from records import dataclass

#: ``// gpujudge: challenge=softmax device=emulator``, in a comment among the first lines of the file.
_DIRECTIVE = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*(?://|#)[ \t]*gpujudge(?P<colon>:?)[ \t]*(?P<words>[^\r\n]*)", re.MULTILINE
)
_DIRECTIVE_WITHIN_BYTES = 4096
#: What is read of a file: a longer one is refused, however long it is.
_MOST_BYTES = BuildLimits().source_bytes + 1
DEFAULT_DEVICE = "emulator"
STDIN = Path("-")


@dataclass(frozen=True, slots=True)
class Source:
    """A source file. ``content`` holds its bytes unchanged: the judge reports what is wrong with them."""

    path: Path
    content: bytes
    challenge: str
    device: str
    #: By the file's ending, by its line or by the option; None: the challenge's first.
    language: str | None = None
    #: The headers that the file includes, which ``content`` holds too.
    headers: tuple[str, ...] = ()

    def text(self) -> str:
        """Returns the content as text for JSON. Invalid UTF-8 becomes lone surrogates, which the server undoes."""
        return self.content.decode("utf-8", "surrogateescape")


def read_content(path: Path) -> bytes:
    """Returns the content of a file, or of stdin for ``-``.

    Reads one byte more than the judge takes, so that it refuses a longer one. Raises UsageError if it cannot be read.
    """
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise UsageError("cannot read stdin: it is closed")
            return sys.stdin.buffer.read(_MOST_BYTES)
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def read_source(path: Path, *, challenge: str | None, device: str | None, language: str | None = None) -> Source:
    """Reads a source, from stdin for ``-``. Options override the line in the file; the default device is the emulator.

    The headers beside it that it includes are taken along, and named on stderr. Raises UsageError if the file cannot be
    read, its line is malformed, or no challenge is named.
    """
    content = read_content(path)
    named = parse_directive(content)
    written_in = language_of(path, named.get("language") if language is None else language)
    if written_in is None or BUILTIN_LANGUAGES.of(written_in).companions:
        content, headers = take_headers(path, content)
    else:
        headers = ()
    challenge = challenge or named.get("challenge")
    if not challenge:
        raise UsageError(
            f"which challenge is {'stdin' if path == STDIN else path.name} for?",
            hint="Say --challenge SLUG, or begin the file with `// gpujudge: challenge=SLUG`.",
        )
    return Source(path, content, challenge, device or named.get("device") or DEFAULT_DEVICE, written_in, headers)


def language_of(path: Path, named: str | None) -> str | None:
    """Returns the language of a file: the one that is named, or that of its ending; None if it has that of none.

    Raises UsageError for one that there is not.
    """
    if named is not None and named not in BUILTIN_LANGUAGES:
        raise UsageError(BUILTIN_LANGUAGES.unknown(named))
    found = BUILTIN_LANGUAGES.of_file(path.name)
    return named or (None if found is None else found.name)


def take_headers(path: Path, content: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Returns a file's content with the headers of its own, and their names, which are printed. Raises UsageError."""
    if path == STDIN:
        return content, ()
    content, headers = with_headers(path, content)
    if headers:
        say(f"{path.name} goes with {', '.join(headers)}")
    return content, headers


def read_sources(
    paths: list[Path], *, challenge: str | None, device: str | None, language: str | None = None
) -> list[Source]:
    """Reads all before any is judged or sent. Raises UsageError as ``read_source`` does, and for a file named twice."""
    twice = next((path for number, path in enumerate(paths) if path in paths[:number]), None)
    if twice is not None:
        raise UsageError(f"{twice} is named twice")
    return [read_source(path, challenge=challenge, device=device, language=language) for path in paths]


def parse_directive(content: bytes) -> dict[str, str]:
    """Returns challenge, device, language and arch from the file's ``// gpujudge:`` line. Raises UsageError."""
    match = _DIRECTIVE.search(split_files(content[:_DIRECTIVE_WITHIN_BYTES])[0].content)
    if match is None:
        return {}
    words = match["words"].decode("utf-8", "replace").split()
    if not match["colon"]:
        if not any(word.startswith(("challenge=", "device=", "language=", "arch=")) for word in words):
            return {}  # a comment that speaks of gpujudge
        raise UsageError("`// gpujudge` has no colon", hint=f"Write `// gpujudge: {' '.join(words)}`.")
    named: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if key not in ("challenge", "device", "language", "arch") or not equals or not value:
            known = "challenge=SLUG, device=NAME, language=NAME and arch=NAME"
            raise UsageError(f"`// gpujudge:` does not know {word!r}", hint=f"It takes {known}.")
        named[key] = value
    return named


def file_of(challenge: str, suffix: str) -> str:
    """Returns the name of the file for a challenge. Raises UsageError if the server names what is not a file name."""
    if "/" in challenge or challenge.startswith("."):
        raise UsageError(f"the server names a challenge {challenge!r}, which is not a file name")
    return f"{challenge}{suffix}"
