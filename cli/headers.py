"""Finds the headers of one's own that a file includes, to take them along with it.

Only files in the file's folder, and in folders below it, are taken: no path and no link leads out of it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from cli.errors import UsageError
from judge.compile.source_files import MOST_FILES, SUPPLIED, SourceFilesError, is_header_name, join_files, split_files
from judge.settings import BuildLimits

_INCLUDE = re.compile(rb'^[ \t]*+#[ \t]*+include[ \t]*+"([^"\n]++)"', re.MULTILINE)
_MOST_BYTES = BuildLimits().source_bytes


def with_headers(path: Path, content: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Returns a file's content with the headers that it includes, by quoted includes, and their names.

    Headers may include further ones. Raises UsageError for more, or longer ones, than a submission may have.
    """
    main, *known = split_files(content)
    folder = path.parent.resolve()
    found: dict[str, bytes] = {}
    texts = [("", main.content), *((posixpath.dirname(file.name), file.content) for file in known)]
    names = {file.name for file in known}
    while texts:
        inside, text = texts.pop(0)
        for included in _INCLUDE.findall(text):
            name = _find(folder, inside, included.decode("utf-8", "replace"))
            if name is None or name in found or name in names or (folder / name).resolve() == path.resolve():
                continue
            if len(found) + len(names) + 1 >= MOST_FILES:
                raise UsageError(f"{path} includes more than {MOST_FILES - 1} headers of its own")
            with (folder / name).open("rb") as file:
                found[name] = file.read(_MOST_BYTES + 1)
            if sum(map(len, found.values())) > _MOST_BYTES:
                raise UsageError(f"{path} and its headers have more than {_MOST_BYTES >> 10} KiB: {', '.join(found)}")
            texts.append((posixpath.dirname(name), found[name]))
    if not found:
        return content, ()
    try:
        return join_files(content, dict(sorted(found.items()))), tuple(sorted(found))
    except SourceFilesError as error:
        raise UsageError(str(error)) from None


def _find(folder: Path, inside: str, included: str) -> str | None:
    """Returns the path, from ``folder`` on, of a header that a file in its folder ``inside`` includes.

    Returns None where there is none to take along: one of the system, the judge's own, or one that lies elsewhere.
    """
    for start in dict.fromkeys((inside, "")):
        name = posixpath.normpath(posixpath.join(start, included))
        if name == SUPPLIED or not is_header_name(name):
            continue
        real = (folder / name).resolve()
        if real.is_relative_to(folder) and real.is_file():
            return name
    return None
