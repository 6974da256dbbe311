"""Backs up and restores an SQLite database with its write-ahead log.

The newest transactions are in the log (``-wal``) beside the file, and SQLite replays a log that it finds beside any
file of its name. So a backup goes through SQLite, which reads both, and a restoration moves the old file with its log.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.engine import URL

from store.backup.errors import BackupError

_SUFFIXES = ("", "-wal", "-shm", "-journal")
_STOP = "Stop the website and the workers, and try again."


def dump(url: URL, target: Path) -> None:
    """Copies the database as of one moment into ``target``, which has no log of its own. Others may write meanwhile."""
    database = _path(url)
    if not database.exists():
        raise BackupError(f"there is no database {database}", "GPUJUDGE_DATA_DIR names the data folder.")
    try:
        with closing(sqlite3.connect(database, timeout=20)) as live, closing(sqlite3.connect(target)) as copy:
            # All pages in one step: in several, every write in between would begin the copy anew.
            live.backup(copy, pages=-1)
            copy.execute("PRAGMA journal_mode=DELETE")
            _check(copy, database)
    except sqlite3.Error as error:
        raise BackupError(f"cannot back up {database}: {error}") from None


def revision(source: Path) -> str | None:
    """Returns the revision of the schema in a backup. Raises BackupError if the file is damaged or foreign."""
    try:
        with closing(_open_read_only(source)) as backup:
            _check(backup, source)
            row = backup.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error as error:
        raise BackupError(f"{source} is not a backup of gpujudge: {error}") from None
    return None if row is None else str(row[0])


def restore(url: URL, source: Path, *, replace: bool) -> Path | None:
    """Puts a copy of ``source`` in the place of the database. Returns where the old one, if any, is kept."""
    database = _path(url)
    database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if database.exists():
        if not replace and _has_tables(database):
            raise BackupError(f"{database} has data already", "To replace it: gpujudge restore --replace FILE")
        _close(database)
    part = database.with_name(f".{database.name}.{secrets.token_hex(4)}")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        shutil.copyfile(source, part)
        if os.geteuid() == 0:
            owner = database.parent.stat()
            os.chown(part, owner.st_uid, owner.st_gid)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        kept = _set_aside(database)
        part.rename(database)
    except OSError as error:
        raise BackupError(f"cannot restore to {database}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
    return kept


def _path(url: URL) -> Path:
    if not url.database or url.database == ":memory:":
        raise BackupError("a database in memory has no backup")
    return Path(url.database)


def _open_read_only(path: Path) -> sqlite3.Connection:
    # Immutable: no log beside a backup is its own.
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def _check(connection: sqlite3.Connection, path: Path) -> None:
    [found] = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise BackupError(f"{path} is damaged: {found}")


def _has_tables(database: Path) -> bool:
    try:
        with closing(sqlite3.connect(database)) as connection:
            return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    except sqlite3.DatabaseError:
        return True  # damaged: it was a database once


def _close(database: Path) -> None:
    """Writes the log into the database, which works only where nobody else has it open. Raises BackupError if so."""
    try:
        with closing(sqlite3.connect(database, timeout=1)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise BackupError(f"another process uses {database}", _STOP) from None
    except sqlite3.DatabaseError:
        pass  # damaged, or no database at all: it is set aside as it is


def _set_aside(database: Path) -> Path | None:
    """Renames the database and whatever belongs to it, so that nothing of it meets the restored one."""
    now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    kept = database.with_name(f"{database.name}.replaced-{now}-{secrets.token_hex(2)}")
    moved = [suffix for suffix in _SUFFIXES if Path(f"{database}{suffix}").exists()]
    for suffix in moved:
        Path(f"{database}{suffix}").rename(f"{kept}{suffix}")
    return kept if moved else None
