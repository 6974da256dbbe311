"""Writes and restores a backup of the configured database: one file, of SQLite or of PostgreSQL.

A backup is complete or absent: it is written beside its place, readable only by its owner, and renamed when whole.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import URL

from store.backup import postgresql, sqlite
from store.backup.errors import BackupError
from store.migrate import SchemaState, schema_state
from store.settings import Settings

_TITLES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_MAGIC = {"sqlite": b"SQLite format 3\0", "postgresql": b"PGDMP"}


def write_backup(settings: Settings, target: Path) -> int:
    """Writes a backup of the running or stopped server's database to ``target``. Returns its size in bytes.

    Raises BackupError, also if ``target`` exists, and if the database has no tables of gpujudge.
    """
    if target.exists():
        raise BackupError(f"{target} exists already", "Name a new file, such as one with the date in its name.")
    if not target.parent.is_dir():
        raise BackupError(f"there is no folder {target.parent}", f"Make it: mkdir -p {target.parent}")
    url = settings.sqlalchemy_url
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        # Made before it is filled: it holds password hashes and the keys of second factors.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        module = sqlite if url.get_backend_name() == "sqlite" else postgresql
        module.dump(url, part)
        _require_schema(module.revision, part, url)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.rename(target)
    except OSError as error:
        raise BackupError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
    return target.stat().st_size


def restore_backup(settings: Settings, source: Path, *, replace: bool) -> Path | None:
    """Makes the database what ``source`` holds. Nothing may have it open.

    Without ``replace``, only into a database without tables. Returns where an SQLite database that was there is kept.
    Raises BackupError, and then leaves the database as it was.
    """
    check_backup(settings, source)
    url = settings.sqlalchemy_url
    if url.get_backend_name() == "postgresql":
        postgresql.restore(url, source, replace=replace)
        return None
    return sqlite.restore(url, source, replace=replace)


def check_backup(settings: Settings, source: Path) -> None:
    """Raises BackupError unless ``source`` is a backup that this server's database can take. Writes nothing."""
    kind, found = settings.sqlalchemy_url.get_backend_name(), _kind(source)
    if found != kind:
        raise BackupError(
            f"{source} is a backup of {_TITLES[found]}, and this server's database is {_TITLES[kind]}",
            "GPUJUDGE_DATABASE_URL names the database.",
        )
    if schema_state((sqlite if kind == "sqlite" else postgresql).revision(source)) is SchemaState.NEWER:
        raise BackupError(f"{source} is of a newer version of gpujudge", "Install that version, and restore then.")


def _require_schema(revision: Callable[[Path], str | None], written: Path, url: URL) -> None:
    try:
        found = revision(written)
    except BackupError:
        found = None
    if found is None:
        where = url.render_as_string(hide_password=True)
        raise BackupError(
            f"{where} has no tables of gpujudge: there is nothing to back up",
            "Is it the right one? GPUJUDGE_DATA_DIR names the data folder, or GPUJUDGE_DATABASE_URL the database.",
        )


def _kind(source: Path) -> str:
    try:
        with source.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise BackupError(f"cannot read {source}: {error.strerror}") from None
    for kind, magic in _MAGIC.items():
        if head.startswith(magic):
            return kind
    raise BackupError(f"{source} is not a backup that `gpujudge backup` wrote")
