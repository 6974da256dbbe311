"""Builds by content: the same source for the same target by the same compilers is compiled once.

Lies in ``<data_dir>/cache/builds``. Compile errors are kept too (not those of a limit). Losing it costs time only.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import secrets
import struct
from collections.abc import Sequence
from pathlib import Path

from judge.build.artifact import Artifact
from judge.judgement import BuildReport

_LIMIT_BYTES = 1 << 30


def build_key(source: bytes, header: str, signature: str, options: Sequence[str], identity: str) -> str:
    """The name under which a build is kept: it changes with everything that decides the result."""
    digest = hashlib.sha256()
    texts = (_own_code(), header, signature, "\0".join(options), identity)
    for part in (source, *(text.encode() for text in texts)):
        digest.update(struct.pack("<Q", len(part)) + part)
    return digest.hexdigest()


@functools.cache
def _own_code() -> str:
    """A digest of this package: another script or another way to read a log makes another result."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def load(data_dir: Path, key: str) -> tuple[BuildReport, Artifact | None] | None:
    """What was stored, or None; a damaged entry is as good as none."""
    path = _path(data_dir, key)
    try:
        data = path.read_bytes()
        (length,) = struct.unpack_from("<I", data)
        about = json.loads(data[4 : 4 + length])
        about["kernels"] = tuple(about["kernels"])
        report = BuildReport(**about)
        artifact = Artifact.from_bytes(data[4 + length :]) if report.ok else None
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return report, artifact


def store(data_dir: Path, key: str, report: BuildReport, artifact: Artifact | None) -> None:
    """Keep it; a full or read-only disk is not an error."""
    path = _path(data_dir, key)
    header = json.dumps(dataclasses.asdict(report)).encode()
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fresh.write_bytes(struct.pack("<I", len(header)) + header + (artifact.to_bytes() if artifact else b""))
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
        # Looking through the cache each time would cost more than it saves.
        if key.startswith("00"):
            prune(data_dir, limit_bytes=_LIMIT_BYTES)


def prune(data_dir: Path, *, limit_bytes: int) -> None:
    """Remove what was used longest ago until at most ``limit_bytes`` are left."""
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
