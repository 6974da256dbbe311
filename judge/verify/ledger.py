"""The ledger of what was verified: ``verified.json`` beside the packs, by digests of packs, kernels and engine.

A pack need not be verified again while its files, its kernels and the engine are those that were verified. Comments,
docstrings, the pack's names (``title`` and ``aliases``), ``rounds``, which words a message, and calls of libraries,
which only GPUs run, do not count.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from judge.packs.baselines import FILE as BASELINES
from records import dataclass

NAME = "verified.json"

#: What decides the result of a verification, of the folder that this project lies in.
_ENGINE = ("judge", "emulator", "records")
#: What only GPUs run, since packs are verified on the emulator. An import contract (pyproject.toml) keeps it apart.
_GPUS_ONLY = ("judge/backends/cuda/", "judge/bench/timing/", "judge/gpu/kernels/", "judge/runner/cuda/")
#: Keys of ``challenge.toml`` that no verification depends on.
_NOT_VERIFIED = ("title", "aliases", "rounds", "baselines")
_SUFFIXES = (".py", ".cpp", ".h", ".cuh", ".cu", ".map")

#: A string or a comment, whichever begins first, so that neither is looked for inside the other.
_PYTHON_TEXT = re.compile(
    rb"""(?P<text>"{3}(?:[^\\]|\\.)*?"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|#[^\n]*""",
    re.DOTALL,
)
_CPP_TEXT = re.compile(
    rb"""(?P<text>R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')|//[^\n]*|/\*.*?\*/""",
    re.DOTALL,
)
#: A string on lines of its own that begins a file, or follows the colon of a ``def`` or ``class``.
_DOCSTRING = re.compile(
    rb'(\A|(?:^|\n)[ \t]*(?:async def|def|class)\b[^#"]*?:\s*?\n)\s*"{3}(?:[^\\]|\\.)*?"{3}[ \t]*(?=\n|\Z)', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One verified pack. The digests are SHA-256. Mutants are counted by kind: of answers, and of kernels.

    ``effort`` is a value of ``verifier.Effort``.
    """

    version: str
    effort: str
    pack: str
    kernels: str
    engine: str
    answer_mutants: int = 0
    answer_mutants_equivalent: int = 0
    kernel_mutants: int = 0
    kernel_mutants_equivalent: int = 0


@dataclass(frozen=True, slots=True)
class Digests:
    """The present state of a pack."""

    pack: str
    kernels: str
    engine: str

    @classmethod
    def of(cls, folder: Path) -> Digests:
        """Returns the digests of the pack in ``folder``."""
        return cls(*_files_digests(folder), engine_digest())

    def are_in(self, entry: Entry | None) -> bool:
        """Returns whether the entry is of just this, verified in full."""
        return (
            entry is not None and self.are_of_files_in(entry) and (entry.engine, entry.effort) == (self.engine, "full")
        )

    def are_of_files_in(self, entry: Entry | None) -> bool:
        """Returns whether the entry is of these files, whatever the engine and the effort."""
        return entry is not None and (entry.pack, entry.kernels) == (self.pack, self.kernels)


@functools.cache
def engine_digest() -> str:
    """Returns the digest of the sources that a verification depends on."""
    home = Path(__file__).resolve().parents[2]
    return _digest(home, (home / path for path in engine_files(home)))


def engine_files(home: Path) -> set[str]:
    """Returns the paths, relative to ``home``, of the sources that a verification depends on."""
    files = (path for name in _ENGINE for path in (home / name).rglob("*") if path.suffix in _SUFFIXES)
    names = {path.relative_to(home).as_posix() for path in files}
    return {name for name in names if not name.startswith(_GPUS_ONLY)}


def read_ledger(packs: Path) -> dict[str, Entry]:
    """Returns the entries by slug of the folder of packs; none where it has no ledger. Raises ValueError."""
    try:
        text = (packs / NAME).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    return {slug: Entry(**entry) for slug, entry in json.loads(text).items()}


def efforts_on_record(folders: Iterable[Path]) -> dict[Path, str]:
    """Returns how each pack was verified as it is now, by its folder: a value of ``verifier.Effort``.

    It is ``outdated`` for one whose files or kernels changed since; packs of which no ledger tells are left out.
    """
    ledgers: dict[Path, dict[str, Entry]] = {}
    found = {}
    for folder in folders:
        if folder.parent not in ledgers:
            ledgers[folder.parent] = _readable_ledger(folder.parent)
        entry = ledgers[folder.parent].get(folder.name)
        if entry is not None:
            same = (entry.pack, entry.kernels) == _files_digests(folder)
            found[folder] = entry.effort if same else "outdated"
    return found


def _readable_ledger(packs: Path) -> dict[str, Entry]:
    try:
        return read_ledger(packs)
    except (OSError, ValueError, TypeError):  # somebody else's file, or one of another version
        return {}


def write_ledger(packs: Path, entries: Mapping[str, Entry]) -> None:
    """Replaces the ledger of a folder of packs."""
    plain = {slug: asdict(entry) for slug, entry in sorted(entries.items())}
    path = packs / NAME
    new = path.with_suffix(".new")
    new.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def table(entries: Mapping[str, Entry]) -> str:
    """Returns the mutants of all packs as a table in Markdown."""
    lines = [
        "| challenge | version | mutants of answers | killed | equivalent | mutants of kernels | killed | equivalent |",
        "|---|---|---|---|---|---|---|---|",
    ]
    total = [0, 0, 0, 0]
    for slug, entry in sorted(entries.items()):
        counts = (
            entry.answer_mutants,
            entry.answer_mutants_equivalent,
            entry.kernel_mutants,
            entry.kernel_mutants_equivalent,
        )
        total = [sum(pair) for pair in zip(total, counts, strict=True)]
        lines.append(f"| {slug} | {entry.version} | {_cells(*counts)} |")
    lines.append(f"| all | | {_cells(*total)} |")
    return "\n".join(lines) + "\n"


def _cells(answers: int, answers_equivalent: int, kernels: int, kernels_equivalent: int) -> str:
    cells = (
        answers,
        answers - answers_equivalent,
        answers_equivalent,
        kernels,
        kernels - kernels_equivalent,
        kernels_equivalent,
    )
    return " | ".join(map(str, cells))


def _files_digests(folder: Path) -> tuple[str, str]:
    """Returns the digests of a pack's own files and of our kernels for it."""
    folder = folder.resolve()
    solutions = folder.parent.parent / "reference_solutions" / folder.name
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    files = (path for path in files if path != folder / BASELINES)
    kernels = (path for path in solutions.glob("*.*") if path.suffix in (".cu", ".py"))
    return _digest(folder, files), _digest(solutions, kernels)


def _digest(root: Path, files: Iterable[Path]) -> str:
    states = [(path, path.stat()) for path in sorted(files)]
    return _digest_of(root, tuple((path, state.st_mtime_ns, state.st_size) for path, state in states))


@functools.lru_cache(maxsize=1024)
def _digest_of(root: Path, states: tuple[tuple[Path, int, int], ...]) -> str:
    """Returns the digest of files in these states. A page of the site asks for those of all challenges."""
    whole = hashlib.sha256()
    for path, _, _ in states:
        content = _verified_part(path) if path.name == "challenge.toml" else code_of(path)
        whole.update(f"{path.relative_to(root)}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def code_of(path: Path) -> bytes:
    """Returns a source file without comments, docstrings and blank lines; the bytes of any other file."""
    content = path.read_bytes()
    if path.suffix == ".py":
        content = _PYTHON_TEXT.sub(_kept, content)
        content = _DOCSTRING.sub(rb"\1", content)
    elif path.suffix in _SUFFIXES:
        content = _CPP_TEXT.sub(_kept, content)
    else:
        return content
    return b"\n".join(line.rstrip() for line in content.splitlines() if line.strip())


def _kept(found: re.Match[bytes]) -> bytes:
    """Keeps a string, its line ends as NULs: blank lines within it count. Drops a comment."""
    return (found["text"] or b" ").replace(b"\n", b"\0")


def _verified_part(path: Path) -> bytes:
    """Returns the content of a ``challenge.toml`` without what no verification depends on; or its bytes."""
    content = path.read_bytes()
    try:
        stated = tomllib.loads(content.decode())
    except ValueError:
        return content
    kept = {key: value for key, value in stated.items() if key not in _NOT_VERIFIED}
    return json.dumps(kept, sort_keys=True, default=str).encode()
