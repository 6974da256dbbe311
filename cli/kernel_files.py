"""Finds the kernels of a batch: the ``.cu`` files in folders, those in Triton, and the challenge that each is for.

The challenge is what ``-c`` says, else what the file says (``// gpujudge: challenge=SLUG``), else the nearest folder
above the file, or the file itself, with the name of a challenge. What is no kernel is told like a kernel that fails.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from cli.errors import UsageError
from cli.headers import with_headers
from cli.source import language_of, parse_directive
from judge.batch.kernels import Kernel, Result
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.settings import BuildLimits

_MOST_BYTES = BuildLimits().source_bytes


def kernel_paths(given: Iterable[Path]) -> list[Path]:
    """Returns the files to judge: those that are given, and those that folders hold, each once.

    Raises UsageError for a path that is not there, and for a folder that cannot be read.
    """
    found: dict[Path, Path] = {}
    for path in given:
        if path.is_dir():
            for file in _files_in(path):
                found.setdefault(file.absolute(), file)
        elif os.path.lexists(path):
            found.setdefault(path.absolute(), path)
        else:
            raise UsageError(f"cannot read {path}: {os.strerror(errno.ENOENT)}")
    return list(found.values())


def _files_in(folder: Path) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from None

    for place, folders, names in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (path for name in sorted(names) if _is_kernel(path := Path(place) / name))


def _is_kernel(path: Path) -> bool:
    """Returns whether a file of a folder is judged. Of files in Python, those that speak of Triton are."""
    if path.suffix != ".py":
        return path.suffix == ".cu"
    try:
        return b"triton" in _content(path)
    except (OSError, UsageError):
        return False


def read_kernel(path: Path, challenge: str | None, slugs: Collection[str]) -> Kernel | Result:
    """Returns a file as a kernel, or as a result that says why it is none. ``slugs`` are the challenges there are."""
    name = str(path)
    try:
        content = _content(path)
        named = parse_directive(content)
        challenge = challenge or named.get("challenge") or _challenge_of(path, slugs)
        language = language_of(path, named.get("language"))
        if language is None or BUILTIN_LANGUAGES.of(language).companions:
            content, _ = with_headers(path, content)
    except OSError as error:
        return Result(Kernel(name, "", b""), problem=f"cannot be read: {error.strerror or error}")
    except UsageError as error:
        return Result(Kernel(name, "", b""), problem=error.message)
    if challenge is None:
        why = "which challenge is it for? Put it into a folder of that name, or begin it with `// gpujudge: challenge=`"
        return Result(Kernel(name, "", b""), problem=why)
    return Kernel(name, challenge, content, language=language)


def _challenge_of(path: Path, slugs: Collection[str]) -> str | None:
    names = [path.stem, *reversed(path.absolute().parent.parts)]
    # A folder's name comes before the file's, which may be like that of another challenge.
    return next((name for name in (*names[1:], names[0]) if name in slugs), None)


def _content(path: Path) -> bytes:
    # A pipe that nobody writes to would keep an ordinary open waiting.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise UsageError("is not a file: only regular files are judged")
        if status.st_size > _MOST_BYTES:
            raise UsageError(f"has {status.st_size:,} bytes: a kernel has at most {_MOST_BYTES:,}")
        return file.read(_MOST_BYTES + 1)
