"""Keeps builds by content: the same source, target and compilers are compiled once.

The cache is ``<data_dir>/cache/builds``, and behind it what machines share, if they do. It keeps compile errors too,
unless a limit caused them. Losing it costs time only.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import secrets
import struct
import time
from collections.abc import Sequence
from pathlib import Path

from judge.compile.artifact import Artifact
from judge.judgement import BuildReport
from judge.judgement_json import read_build_report, to_json
from judge.settings import SharedBuilds

_LIMIT_BYTES = 1 << 30


def build_key(source: bytes, header: str, signature: str, options: Sequence[str], identity: str) -> str:
    """Returns the name of a build, which changes with everything that decides the result."""
    digest = hashlib.sha256()
    texts = (_own_code(), header, signature, "\0".join(options), identity)
    for part in (source, *(text.encode() for text in texts)):
        digest.update(struct.pack("<Q", len(part)) + part)
    return digest.hexdigest()


@functools.cache
def _own_code() -> str:
    """Returns a digest of this package: other code may make another result."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def load(data_dir: Path, key: str, *, shared: SharedBuilds | None = None) -> tuple[BuildReport, Artifact | None] | None:
    """Returns the stored build; None where there is none, or a damaged one."""
    path = _path(data_dir, key)
    try:
        data = path.read_bytes()
        (length,) = struct.unpack_from("<I", data)
        found = _read(data[4 : 4 + length], data[4 + length :])
    except (OSError, struct.error):
        found = None
    if found is not None:
        with contextlib.suppress(OSError):
            os.utime(path)
        return found
    elsewhere = None if shared is None else shared.load(key)
    found = None if elsewhere is None else _read(*elsewhere)
    if found is not None:
        _keep_here(data_dir, key, *found)
    return found


def _read(report: bytes, artifact: bytes | None) -> tuple[BuildReport, Artifact | None] | None:
    """Returns a build from its parts; None if they are damaged."""
    try:
        told = read_build_report(json.loads(report))
        return told, Artifact.from_bytes(artifact or b"") if told.ok else None
    except (ValueError, KeyError, TypeError, struct.error):
        return None


def store(
    data_dir: Path, key: str, report: BuildReport, artifact: Artifact | None, *, shared: SharedBuilds | None = None
) -> None:
    """Stores a build. Ignores a full or read-only disk."""
    _keep_here(data_dir, key, report, artifact)
    if shared is not None:
        parts = None if artifact is None else (artifact.digest, artifact.to_bytes())
        shared.store(key, json.dumps(to_json(report)).encode(), parts)


def _keep_here(data_dir: Path, key: str, report: BuildReport, artifact: Artifact | None) -> None:
    path = _path(data_dir, key)
    header = json.dumps(to_json(report)).encode()
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fresh.write_bytes(struct.pack("<I", len(header)) + header + (artifact.to_bytes() if artifact else b""))
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
        # Listing the cache after every build would cost more than it saves.
        if key.startswith("00"):
            prune(data_dir, limit_bytes=_LIMIT_BYTES)


def remove_half_written(data_dir: Path, *, older_than_s: float = 60.0) -> int:
    """Removes files that killed processes left half written; returns how many. Writing one takes far less time."""
    removed = 0
    for path in _folder(data_dir).glob("*/.*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > older_than_s:
                path.unlink()
                removed += 1
    return removed


def prune(data_dir: Path, *, limit_bytes: int) -> None:
    """Removes the builds used longest ago until at most ``limit_bytes`` are left."""
    entries = []
    for path in _folder(data_dir).glob("*/*"):
        with contextlib.suppress(OSError):
            stat = path.stat()
            entries.append((stat.st_mtime, stat.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit_bytes:
            break
        path.unlink(missing_ok=True)
        total -= size


def _folder(data_dir: Path) -> Path:
    return data_dir / "cache" / "builds"


def _path(data_dir: Path, key: str) -> Path:
    return _folder(data_dir) / key[:2] / key[2:]
