"""Migrates a database to this version's schema: ``upgrade(settings)``.

Any number of processes may start at once: one migrates; the others wait and then find nothing to do. The lock is an
advisory lock on PostgreSQL and a locked file beside the database on SQLite; both are released if their holder dies.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from store.database import make_engine
from store.models import Base
from store.settings import Settings

FOLDER = Path(__file__).resolve().parent.parent / "migrations"
#: "gpujudge" as a number: other applications on the same server are unlikely to use the same key.
_ADVISORY_LOCK = int.from_bytes(b"gpujudge", "big", signed=True)


def upgrade(settings: Settings, revision: str = "head") -> None:
    """Migrates up to ``revision``. Returns quickly if the database is already there."""
    with _migrating(settings) as config:
        command.upgrade(config, revision)


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


def differences(engine: Engine) -> list[Any]:
    """Returns the differences between the migrated database and the models. Any difference is a bug."""
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "target_metadata": Base.metadata}
        )
        return list(compare_metadata(context, Base.metadata))


@contextlib.contextmanager
def _migrating(settings: Settings) -> Iterator[Config]:
    engine = make_engine(settings)
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
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.commit()
        try:
            yield
        finally:
            connection.rollback()
            connection.exec_driver_sql("PRAGMA foreign_keys=ON")
            connection.commit()
