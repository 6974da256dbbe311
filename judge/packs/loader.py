"""Reads a pack from its directory. Everything that can be wrong with it is found here and raised as a PackError."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

from pydantic import ValidationError

from judge.packs.assembly import assemble
from judge.packs.errors import PackError
from judge.packs.pack import Pack
from judge.packs.reference import read_reference
from judge.packs.schema import ChallengeModel

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
DECIDING_FILES = ("challenge.toml", "reference.py")


def load_pack(directory: Path) -> Pack:
    """Returns the pack in ``directory``. Raises PackError(file, key, reason) for the first thing wrong with it."""
    directory = directory.resolve()
    file = directory / "challenge.toml"
    model = _read(file)
    if not SLUG.fullmatch(directory.name):
        reason = f"the folder '{directory.name}' must be named in lower-case letters and digits with single hyphens"
        raise PackError(directory, "", reason)
    if not (directory / "statement.md").is_file():
        raise PackError(directory / "statement.md", "", "is missing; write the statement in Markdown")
    reference = read_reference(directory / "reference.py", f"gpujudge_pack_{directory.name.replace('-', '_')}")
    return assemble(file, model, reference, _digest(directory))


def _read(file: Path) -> ChallengeModel:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PackError(file, "", "is missing; a pack is a directory with this file in it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PackError(file, "", f"cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise PackError(file, "", f"is not valid TOML: {error}") from None
    if content.get("schema") == 1:
        raise PackError(file, "schema", f"is 1, which is no longer read; run: gpujudge pack migrate {file.parent}")
    try:
        return ChallengeModel.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        # Where several forms will do, pydantic adds the name of each to the key.
        key = ".".join(str(part) for part in first["loc"] if "[" not in str(part))
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise PackError(file, key, first["msg"].removeprefix("Value error, ") + more) from None


def _digest(directory: Path) -> str:
    digest = hashlib.sha256()
    for name in DECIDING_FILES:
        content = (directory / name).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
