"""Checks that a pack whose judgements can differ from those of an earlier commit has another version."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Iterator
from typing import Any

from judge.packs.pack import Pack
from judge.verify.findings import Finding, error, warning

#: What no judgement depends on.
_TEXTS = (
    "title", "difficulty", "tags", "license", "links", "description", "equivalent", "waived", "unreached", "version",
    "medals", "aliases",
)  # fmt: skip


def check_version(pack: Pack, ref: str) -> Iterator[Finding]:
    """Yields an error if what decides differs from the commit ``ref`` while the version is the same."""
    file = pack.directory / "challenge.toml"
    try:
        before = {name: _at(pack, ref, name) for name in ("challenge.toml", "reference.py")}
    except OSError as problem:
        yield warning("version-unknown", file, "version", f"cannot be compared with {ref}: {problem}")
        return
    text = before["challenge.toml"]
    if text is None:
        return
    old, new = tomllib.loads(text), tomllib.loads(file.read_text(encoding="utf-8"))
    code = pack.reference.path.read_text(encoding="utf-8")
    if old.get("version") == pack.version and (_deciding(old) != _deciding(new) or before["reference.py"] != code):
        message = f"is {pack.version}, as in {ref}, though cases, limits or the reference differ; raise it"
        yield error("version", file, "version", message)


def _at(pack: Pack, ref: str, name: str) -> str | None:
    """Returns a file as the commit has it; None where it has none. Raises OSError."""
    command = ["git", "-C", str(pack.directory), "show", f"{ref}:./{name}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        return ended.stdout
    if "exists on disk, but not in" in ended.stderr or "does not exist in" in ended.stderr:
        return None
    raise OSError(ended.stderr.strip())


def _deciding(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _deciding(value) for key, value in content.items() if key not in _TEXTS}
    return [_deciding(value) for value in content] if isinstance(content, list) else content
