"""Migrates a database to this version's schema: ``upgrade(settings)``.

Any number of processes may start at once: one migrates; the others wait and then find nothing to do. The lock is an
advisory lock on PostgreSQL and a locked file beside the database on SQLite; both are released if their holder dies.
"""

from __future__ import annotations

import contextlib
import enum
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, Engine, text

from store.database import make_engine
from store.models import Base
from store.settings import Settings

FOLDER = Path(__file__).resolve().parent.parent / "migrations"
#: "gpujudge" as a number: other applications on the same server are unlikely to use the same key.
_ADVISORY_LOCK = int.from_bytes(b"gpujudge", "big", signed=True)


class SchemaState(enum.Enum):
    """How a database's schema stands to that of this version."""

    CURRENT = "current"
    #: ``upgrade`` brings it up to date.
    OLDER = "older"
    #: Made by a newer version, which this one cannot use.
    NEWER = "newer"


def upgrade(settings: Settings, revision: str = "head") -> list[str]:
    """Migrates up to ``revision``. Returns quickly if the database is already there.

    Returns the migrations that it made, in order, as ``0012 (verdict totals)``.
    """
    with _migrating(settings) as config:
        # Read under the lock: what another process migrated meanwhile was not made here.
        before = MigrationContext.configure(config.attributes["connection"]).get_current_revision()
        config.attributes["connection"].rollback()
        command.upgrade(config, revision)
        after = MigrationContext.configure(config.attributes["connection"]).get_current_revision()
        config.attributes["connection"].rollback()
    if before == after:
        return []
    made = ScriptDirectory(str(FOLDER)).iterate_revisions(after or "base", before or "base")
    return [_title(one) for one in reversed(list(made))]


def downgrade(settings: Settings, revision: str) -> None:
    """Migrates down to ``revision`` (``base``: no tables). Deletes the data of dropped tables and columns."""
    with _migrating(settings) as config:
        command.downgrade(config, revision)


def write_revision(settings: Settings, message: str) -> None:
    """Writes a migration from the difference between the models and the database, for developers."""
    with _migrating(settings) as config:
        command.revision(config, message, autogenerate=True)


def head_revision() -> str | None:
    """Returns the newest revision that this version knows."""
    return ScriptDirectory(str(FOLDER)).get_current_head()


def current_revision(engine: Engine) -> str | None:
    """Returns the database's revision, or None if it was never migrated."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def is_current(engine: Engine) -> bool:
    """Returns whether the database has this version's schema, for readiness checks."""
    return current_revision(engine) == head_revision()


def schema_state(revision: str | None) -> SchemaState:
    """Returns how a database at ``revision`` (None: never migrated) stands to this version."""
    if revision == head_revision():
        return SchemaState.CURRENT
    known = {one.revision for one in ScriptDirectory(str(FOLDER)).walk_revisions()}
    return SchemaState.OLDER if revision is None or revision in known else SchemaState.NEWER


def differences(engine: Engine) -> list[Any]:
    """Returns the differences between the migrated database and the models. Any difference is a bug."""
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "target_metadata": Base.metadata}
        )
        return list(compare_metadata(context, Base.metadata))


def _title(script: Script) -> str:
    """Returns a migration's number and, from the name of its file, its topic."""
    topic = Path(script.path).stem.removeprefix(script.revision).strip("_").replace("_", " ")
    return f"{script.revision} ({topic})"


@contextlib.contextmanager
def _migrating(settings: Settings) -> Iterator[Config]:
    engine = make_engine(settings, create=True)
    try:
        with engine.connect() as connection, _lock(connection):
            config = Config()
            config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
            config.set_main_option("path_separator", "os")
            config.attributes["connection"] = connection
            yield config
    finally:
        engine.dispose()


@contextlib.contextmanager
def _lock(connection: Connection) -> Iterator[None]:
    if connection.dialect.name == "postgresql":
        # A session lock, not a transaction lock: each migration commits its own transaction.
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _ADVISORY_LOCK})
        connection.commit()
        try:
            yield
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _ADVISORY_LOCK})
            connection.commit()
        return
    database = connection.engine.url.database
    assert database is not None, "make_engine refuses a database in memory"
    with Path(f"{database}.migrate.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        # Alembic alters a table by copying and dropping it; enforced foreign keys would cascade to other tables.
        # Set past SQLAlchemy, which would begin a transaction first: inside one, SQLite ignores the pragma.
        driver = connection.connection.cursor()
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            yield
        finally:
            connection.rollback()
            driver.execute("PRAGMA foreign_keys=ON")
