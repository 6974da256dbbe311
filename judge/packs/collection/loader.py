"""Reads a pack from its directory. Everything that can be wrong with it is found here and raised as a PackError."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judge.packs.baselines import FILE as BASELINES
from judge.packs.errors import PackError
from judge.packs.form.building import assemble
from judge.packs.form.schema import ChallengeModel
from judge.packs.medals import NAME as MEDALS
from judge.packs.pack import Pack
from judge.packs.reference import read_reference

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
#: What people read and what no judgement depends on: keys of the file, and of any table in it.
_DESCRIPTIVE = frozenset(
    {
        "title",
        "aliases",
        "difficulty",
        "tags",
        "license",
        "links",
        "description",
        "medals",
        "baselines",
        "waived",
        "unreached",
    }
)

#: What a pack's folder has that it is loaded from, besides files of data.
FILES = ("challenge.toml", "reference.py", "statement.md")
#: What tells one state of files from another: paths, times in nanoseconds and sizes in bytes.
FilesState = tuple[tuple[str, int, int], ...]


def files_state(directory: Path) -> FilesState:
    """Returns the state of the files that a pack is loaded from; those that are missing are left out.

    Among them are the medals of all packs, which lie beside its folder.
    """
    found: list[tuple[str, int, int]] = []
    data_files: list[str] = []
    # Of all packs every other second: with Path it would take ten times as long.
    with contextlib.suppress(OSError):
        data_files = sorted(name for name in os.listdir(directory) if name.endswith(".npy"))  # noqa: PTH208
    names = (*FILES, BASELINES, *data_files)
    for file in [*(f"{directory}/{name}" for name in names), f"{directory.parent}/{MEDALS}"]:
        try:
            status = os.stat(file)  # noqa: PTH116
        except OSError:
            continue
        found.append((file, status.st_mtime_ns, status.st_size))
    return tuple(found)


def load_pack(directory: Path, *, confined: bool = False) -> Pack:
    """Returns the pack in ``directory``, ``confined`` if its author is not trusted.

    Raises PackError(file, key, reason) for the first thing wrong with it.
    """
    directory = directory.resolve()
    file = directory / "challenge.toml"
    content = _with_present_keys(_read(file))
    model = _validated(file, content)
    if not SLUG.fullmatch(directory.name):
        reason = f"the folder '{directory.name}' must be named in lower-case letters and digits with single hyphens"
        raise PackError(directory, "", reason)
    if not (directory / "statement.md").is_file():
        raise PackError(directory / "statement.md", "", "is missing; write the statement in Markdown")
    reference = read_reference(directory / "reference.py", f"gpujudge_pack_{directory.name.replace('-', '_')}")
    pack = assemble(file, model, reference, _digest(content, directory / "reference.py"))
    return dataclasses.replace(pack, confined=True) if confined else pack


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PackError(file, "", "is missing; a pack is a directory with this file in it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PackError(file, "", f"cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise PackError(file, "", f"is not valid TOML: {error}") from None


def _with_present_keys(content: dict[str, Any]) -> dict[str, Any]:
    """Returns the content of a file with ``bench.why_short`` as what it became, a waiver: kept versions have it."""
    bench, waived = content.get("bench"), content.get("waived", {})
    if not isinstance(bench, dict) or "why_short" not in bench or not isinstance(waived, dict):
        return content
    reason = {"bench-short": bench["why_short"]} if bench["why_short"] else {}
    others = {key: value for key, value in bench.items() if key != "why_short"}
    return {**content, "bench": others, "waived": {**reason, **waived}}


def _validated(file: Path, content: dict[str, Any]) -> ChallengeModel:
    try:
        return ChallengeModel.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        # Where several forms will do, pydantic adds the name of each to the key.
        key = ".".join(str(part) for part in first["loc"] if "[" not in str(part))
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise PackError(file, key, first["msg"].removeprefix("Value error, ") + more) from None


def _digest(content: dict[str, Any], reference: Path) -> str:
    """Returns a digest of what decides a judgement: neither descriptions nor how the file is laid out."""
    stated = {key: value for key, value in content.items() if key != "rounds"}  # packs may choose this name for an axis
    deciding = json.dumps(_without_descriptions(stated), sort_keys=True, default=str).encode()
    digest = hashlib.sha256()
    for part in (deciding, reference.read_bytes()):
        digest.update(f"{len(part)}\0".encode())
        digest.update(part)
    return digest.hexdigest()


def _without_descriptions(value: Any) -> Any:
    if isinstance(value, dict):
        # Names that packs choose may be those of descriptive keys; their tables are told by what is in them.
        return {
            key: _without_descriptions(each)
            for key, each in value.items()
            if key not in _DESCRIPTIVE
            or (isinstance(each, dict) and key not in ("medals", "baselines", "links", "waived", "unreached"))
        }
    return [_without_descriptions(each) for each in value] if isinstance(value, list) else value
