"""Bring a database to the schema of this version, from a program: ``upgrade(settings)``.

Any number of processes may start at once: one migrates, the others wait and find nothing left to do. On PostgreSQL
the lock is an advisory one, on SQLite a file beside the database; both are let go of by the death of their holder.
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
#: "gpujudge" as a number: whoever shares the server with us will hardly have chosen it.
_ADVISORY_LOCK = int.from_bytes(b"gpujudge", "big", signed=True)


def upgrade(settings: Settings, revision: str = "head") -> None:
    """Migrate up to ``revision``. Does nothing, quickly, when the database is there already."""
    with _migrating(settings) as config:
        command.upgrade(config, revision)


def downgrade(settings: Settings, revision: str) -> None:
    """Migrate down to ``revision`` (``base``: an empty database). Loses the data of what is undone."""
    with _migrating(settings) as config:
        command.downgrade(config, revision)


def write_revision(settings: Settings, message: str) -> None:
    """For developers: write a migration from the difference between the models and the migrated database."""
    with _migrating(settings) as config:
        command.revision(config, message, autogenerate=True)


def head_revision() -> str | None:
    """The newest schema that this version knows."""
    return ScriptDirectory(str(FOLDER)).get_current_head()


def current_revision(engine: Engine) -> str | None:
    """The schema of the database; None when it was never migrated."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def is_current(engine: Engine) -> bool:
    """Whether the database has this version's schema, as readiness checks ask."""
    return current_revision(engine) == head_revision()


def differences(engine: Engine) -> list[Any]:
    """What autogenerate would change to bring the migrated database to the models: nothing, or there is a bug."""
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
        # Of the session, not of a transaction: every migration commits by itself.
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
        # A table that is copied is dropped for a moment; with keys enforced that would cascade into other tables.
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.commit()
        try:
            yield
        finally:
            connection.rollback()
            connection.exec_driver_sql("PRAGMA foreign_keys=ON")
            connection.commit()
