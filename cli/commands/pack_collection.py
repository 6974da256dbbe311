"""The commands ``pack list``, ``pack new`` and ``pack add``: what challenges there are, and new ones."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import options
from cli.console import print_json, print_text, say
from cli.errors import CliError, UsageError
from cli.extras import need
from cli.local_setup import pack_folders

_MAX_BYTES = 256 << 20


def list_packs(as_json: options.Json = False) -> None:
    """List the challenges that are found here, and what is wrong with the broken ones."""
    registry: Any = need("judge.packs.collection.registry", "judge").Registry.load(pack_folders(None))
    if as_json:
        found = [
            {"challenge": pack.slug, "version": pack.version, "title": pack.title, "directory": str(pack.directory)}
            for pack in registry.packs.values()
        ]
        print_json({"challenges": found, "broken": [str(problem) for problem in registry.problems]})
        return
    for pack in registry.packs.values():
        print_text(f"{pack.slug:<32} {pack.version:<8} {pack.difficulty:<7} {pack.directory}")
    for problem in registry.problems:
        say(str(problem))


def new(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Its name, such as scale-rows.", show_default=False)],
    abi: Annotated[
        str, typer.Option("--abi", metavar="SIGNATURE", help="'void solve(const float* A, float* B, int N)'.")
    ],
    directory: Annotated[
        Path, typer.Option("--directory", metavar="DIR", help="The folder of challenges to write it into.")
    ] = Path("challenges"),
) -> None:
    """Begin a challenge: write all that the signature tells, and a TODO for the rest.

    The first kernel goes to reference_solutions/SLUG/ beside DIR.
    """
    draft = need("judge.packs.collection.draft", "judge")
    signatures = need("judge.packs.form.signature", "judge")
    loader = need("judge.packs.collection.loader", "judge")
    if not loader.SLUG.fullmatch(slug):
        raise UsageError(f"'{slug}' must be written in lower-case letters and digits with single hyphens")
    try:
        files = draft.draft_pack(slug, abi)
    except signatures.SignatureError as error:
        raise UsageError(f"--abi: {error}", hint=_pointed_out(abi, error.at)) from None
    folder = directory.absolute() / slug
    kernel = folder.parent.parent / "reference_solutions" / slug / "plain.cu"
    for target in (folder, kernel):
        if target.exists():
            raise UsageError(f"{target} is there already; choose another name or --directory")
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    kernel.parent.mkdir(parents=True, exist_ok=True)
    kernel.write_text(draft.draft_kernel(loader.load_pack(folder)), encoding="utf-8")
    for target in (folder, kernel):
        print_text(str(target))
    say(f"What is left to do, line by line: gpujudge pack verify --quick {directory / slug}")


def _pointed_out(text: str, at: int) -> str:
    """Returns the line of the text that the character is on, and an arrow below it."""
    begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[begin:] if end < 0 else text[begin:end]
    return f"  {line}\n  {' ' * (at - begin)}^"


def add(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A folder, an archive, or git+URL.", show_default=False)
    ],
    to: Annotated[
        Path,
        typer.Option("--to", metavar="DIR", help="The folder of challenges to add to: one of GPUJUDGE_PACK_PATHS."),
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Replace challenges that are there already.")] = False,
) -> None:
    """Add the challenges that a folder, an archive or a git repository has. Running servers find them by themselves."""
    load_pack = need("judge.packs.collection.loader", "judge").load_pack
    errors = need("judge.packs.errors", "judge")
    with tempfile.TemporaryDirectory(prefix="gpujudge-packs-") as scratch:
        given = list(_packs_in(_fetch(source, Path(scratch))))
        if not given:
            raise UsageError(f"{source} has no challenge: a folder with a challenge.toml")
        names = [folder.name for folder in given]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"{source} has several challenges named {twice}, and nothing was added: add one by itself")
        # Without links before anything reads it: a link could lead anywhere on this machine.
        folders = [_plain_copy(folder, Path(scratch) / "plain" / folder.name) for folder in given]
        for folder in folders:
            try:
                load_pack(folder)
            except errors.PackError as problem:
                raise CliError(f"{folder.name} is broken, and nothing was added: {problem}") from None
            if (to / folder.name).exists() and not replace:
                raise UsageError(f"{to / folder.name} is there already; --replace replaces it")
        to.mkdir(parents=True, exist_ok=True)
        for folder in folders:
            _put(folder, to / folder.name)
            print_text(str(to / folder.name))
    if to.resolve() not in {folder.resolve() for folder in pack_folders(None)}:
        say(f"Name {to} in GPUJUDGE_PACK_PATHS, so that servers find it.")


def _fetch(source: str, scratch: Path) -> Path:
    """Returns a folder with what the source has."""
    target = scratch / "source"
    if source.startswith("git+"):
        command = ["git", "clone", "--quiet", "--depth", "1", "--", source.removeprefix("git+"), str(target)]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise CliError(f"git cannot be run: {error}") from None
        if ended.returncode:
            raise CliError(f"git cannot clone {source.removeprefix('git+')}: {ended.stderr.strip()}")
        return target
    path = Path(source).expanduser()
    if path.is_dir():
        return path
    if not path.is_file():
        raise UsageError(f"{source} is neither a folder nor an archive; a repository is git+URL")
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                _bound(sum(entry.file_size for entry in archive.infolist()))
                archive.extractall(target)  # noqa: S202 (ZipFile drops roots and ..)
        else:
            with tarfile.open(path) as archive:
                _bound(sum(entry.size for entry in archive))
                archive.extractall(target, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{source} cannot be unpacked: {error}") from None
    return target


def _bound(size: int) -> None:
    if size > _MAX_BYTES:
        raise UsageError(f"the archive unpacks to {size >> 20} MiB, more than {_MAX_BYTES >> 20}")


def _packs_in(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("challenge.toml")):
        if not file.is_symlink() and not any(part.startswith(".") for part in file.relative_to(folder).parts):
            yield file.resolve().parent


def _put(folder: Path, target: Path) -> None:
    """Copies a pack beside its place first, so that a server never reads half of it, and no failure loses the old."""
    new, old = target.with_name(f".{target.name}.new"), target.with_name(f".{target.name}.old")
    for each in (new, old):
        shutil.rmtree(each, ignore_errors=True)
    shutil.copytree(folder, new)
    if target.exists():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _plain_copy(folder: Path, target: Path) -> Path:
    """Copies a pack's folders and plain files."""

    def others(where: str, names: list[str]) -> list[str]:
        paths = {name: Path(where) / name for name in names}
        return [name for name, path in paths.items() if path.is_symlink() or not (path.is_file() or path.is_dir())]

    shutil.copytree(folder, target, ignore=others)
    return target
