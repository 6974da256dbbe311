"""Keeps a source and its author's headers in one text, as which it is sent, stored and shown.

The file with ``solve`` comes first; it is compiled as ``kernel.cu``. Each header follows a line that names it:

    // gpujudge: file=inc/tile.cuh

The build writes them to files, so the compiler's own rules hold for includes, guards and macros, and what it says of
lines names the header. ``locate`` finds such a line in the text.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from judge.compile.source import strip_noise
from records import dataclass

#: The name under which the file with ``solve`` is compiled.
MAIN = "kernel.cu"
#: The most files of a submission, the one with ``solve`` among them.
MOST_FILES = 16
#: The header that the judge supplies.
SUPPLIED = "solve.h"
#: Other endings could be those of files that the build makes.
SUFFIXES = (".cuh", ".cu", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tpp")

_MARK = re.compile(rb"^// gpujudge: file=(\S+)[ \t\r]*$", re.MULTILINE)
_NAME = re.compile(r"(?:\w[\w.+-]{0,99}/){0,8}\w[\w.+-]{0,99}", re.ASCII)
#: The folder of a build: in the jail, or on a machine without one (judge.compile.compiler_jail).
_BUILD_FOLDER = re.compile(r"^(?:.*/gpujudge-build-[^/]*|/tmp)/")
_NOT_FOUND = re.compile(r"fatal error: (\S{1,200}): No such file or directory|cannot open source file \"(\S{1,200})\"")
#: The supplied libraries whose headers have a folder of their own.
_LIBRARIES = {"cub": "CUB", "thrust": "Thrust"}
_CONTINUED = re.compile(r"\\[ \t\v\f]*+\r?\n")
_LINE_DIRECTIVE = re.compile(r"^[ \t\v\f]*+(?:#|%:)[ \t\v\f]*+(?:line\b|\d)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source. ``first_line`` is the line of the whole text at which it begins, from 1 on."""

    name: str
    content: bytes
    first_line: int

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.content.count(b"\n") + (not self.content.endswith(b"\n"))


class SourceFilesError(ValueError):
    """Files that make no source, with the reason in words for their author."""


def split_files(source: bytes, main: str = MAIN) -> tuple[SourceFile, ...]:
    """Returns the files of a source, that with ``solve`` first, which is called ``main``."""
    files, name, start, line = [], main, 0, 1
    for mark in _MARK.finditer(source):
        content = source[start : mark.start()]
        files.append(SourceFile(name, content, line))
        line += content.count(b"\n") + 1
        name, start = mark[1].decode("utf-8", "replace"), min(mark.end() + 1, len(source))
    return (*files, SourceFile(name, source[start:], line))


def join_files(main: bytes, headers: Mapping[str, bytes]) -> bytes:
    """Returns the source of a file and its headers by name. Raises SourceFilesError."""
    parts = [main]
    for name, content in headers.items():
        if _MARK.search(content):
            raise SourceFilesError(f"The header {name} has a line `// gpujudge: file=...`, which begins a file.")
        parts += [b"" if parts[-1].endswith(b"\n") or not parts[-1] else b"\n"]
        parts += [f"// gpujudge: file={name}\n".encode(), content]
    source = b"".join(parts)
    problem = check_files(source)
    if problem is not None:
        raise SourceFilesError(problem)
    return source


def check_files(source: bytes) -> str | None:
    """Returns the mistake in the files of a source, in words for its author; None where there is none."""
    names = [file.name for file in split_files(source)]
    if len(names) > MOST_FILES:
        return f"The source has {len(names)} files; at most {MOST_FILES} are taken."
    for name in names[1:]:
        if not is_header_name(name):
            known = ", ".join(SUFFIXES)
            return f"{name!r} is not a name of a header: it is a path without `..` that ends with {known}."
        if name in (MAIN, SUPPLIED):
            return f"{name} is the judge's name for a file of its own: give the header another one."
    twice = next((name for name in names if names.count(name) > 1), None)
    return None if twice is None else f"The source has two files {twice}."


def missing_header(log: str, supplied: Sequence[Path] = ()) -> str | None:
    """Returns the remedy for a header that a compiler did not find; None where its log names none.

    ``supplied`` are the folders with the headers of CUB and Thrust.
    """
    found = _NOT_FOUND.search(log)
    if found is None:
        return None
    name = found[1] or found[2]
    library = _LIBRARIES.get(name.partition("/")[0])
    if library is not None:
        return f"`{name}` is not among the headers of {library} that are supplied{_meant(name, supplied)}"
    return (
        f"`{name}` is not there: a submission is one file, and the headers that were sent with it. "
        "The command line sends quoted includes that lie beside the file, and the site takes several files. "
        f"`{SUPPLIED}`, CUDA's own headers, CUB, Thrust and the C++ library are supplied."
    )


def _meant(name: str, folders: Sequence[Path]) -> str:
    """Returns the question which header of the same library was meant, where one has a similar name; else a stop."""
    # Here, since few builds miss a header.
    import difflib

    paths = (path for folder in folders for path in (folder / name.partition("/")[0]).rglob("*.*h"))
    known = {path.name: path for path in paths if "detail" not in path.parts}
    alike = difflib.get_close_matches(posixpath.basename(name), known, n=1, cutoff=0.8)
    if not alike:
        return "."
    folder = next(folder for folder in folders if known[alike[0]].is_relative_to(folder))
    return f": did you mean `{known[alike[0]].relative_to(folder).as_posix()}`?"


def is_header_name(name: str) -> bool:
    """Returns whether a header may have this name, which is a path below the folder of the file with ``solve``."""
    return bool(_NAME.fullmatch(name)) and name.endswith(SUFFIXES)


def own_name(path: str | None) -> str:
    """Returns the name of a file that a compiler or the emulator names by its path in the build's folder."""
    return posixpath.normpath(_BUILD_FOLDER.sub("", path)) if path else ""


@dataclass(frozen=True, slots=True)
class OwnLines:
    """Where the lines of a source's files stand in its whole text."""

    files: tuple[SourceFile, ...] = (SourceFile(MAIN, b"", 1),)

    def __contains__(self, path: object) -> bool:
        """Returns whether a path, or a name, is that of a file of the source."""
        return isinstance(path, str) and own_name(path) in [file.name for file in self.files]

    def locate(self, path: str | None, line: int | None) -> int | None:
        """Returns the line of the whole text; None for one of another file."""
        name = own_name(path)
        first = next((file.first_line for file in self.files if file.name == name), None)
        return first + line - 1 if first is not None and line else None

    def in_words(self, line: int) -> str:
        """Returns how people call a line of the whole text: ``line 12``, or ``tile.cuh:3`` in a header."""
        return self.name(line).replace(f"{self.files[0].name}:", "line ")

    def name(self, line: int) -> str:
        """Returns a line of the whole text as ``inc/tile.cuh:3``, by its file."""
        file = next((each for each in reversed(self.files) if each.first_line <= line), self.files[0])
        return f"{file.name}:{line - file.first_line + 1}"


#: The lines of a source of one file.
ONE_FILE = OwnLines()


def own_lines(source: bytes | str, main: str = MAIN) -> OwnLines:
    """Returns where the lines of a source's files stand; ``main`` is the name of that with ``solve``."""
    data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    return OwnLines(split_files(data, main))


def join_continued(text: str) -> str:
    """Returns the text with lines that end with a backslash joined to the next one."""
    return _CONTINUED.sub("", text)


def moves_lines(source: str) -> bool:
    """Returns whether a source has ``#line`` directives, so that what is said of its lines need not be true."""
    joined = join_continued(source)
    return any(_LINE_DIRECTIVE.search(text) for text in (source, joined, strip_noise(joined)))


def sent_files(files: Iterable[tuple[str, bytes]], suffixes: tuple[str, ...] = (".cu", ".cpp", ".cc")) -> bytes:
    """Returns the source of files that were sent together.

    The first that names ``solve`` and ends with one of ``suffixes`` is the one to compile, and the others are its
    headers. Raises SourceFilesError if there is none.
    """
    sent = list(files)
    if not sent:
        raise SourceFilesError("No file was sent.")
    if len(sent) == 1:
        return sent[0][1]
    mains = [name for name, content in sent if name.endswith(suffixes) and b"solve" in content]
    if not mains:
        raise SourceFilesError(f"None of the files is a {suffixes[0]} file with a function `solve`.")
    main = next(content for name, content in sent if name == mains[0])
    headers: dict[str, bytes] = {}
    for name, content in sent:
        if name in headers:
            raise SourceFilesError(f"The source has two files {name}.")
        if name not in (mains[0], SUPPLIED):
            headers[name] = content
    return join_files(main, headers)
