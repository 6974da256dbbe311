"""Databases with this version's schema, copied from one that was migrated once in this process."""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import tempfile
from pathlib import Path

import psycopg
from sqlalchemy import URL

from store.migrate import upgrade
from store.settings import Settings
from tests.services import postgres


def give_schema(settings: Settings) -> None:
    """Brings an empty database to this version's schema, as ``upgrade`` does, sooner; leaves another as it is."""
    url = settings.sqlalchemy_url
    if url.get_backend_name() == "sqlite":
        assert url.database
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        if not Path(url.database).exists():
            shutil.copy(_sqlite_template(), url.database)
    else:
        own, server = url.set(drivername="postgresql"), url.set(drivername="postgresql", database="postgres")
        with psycopg.connect(own.render_as_string(hide_password=False)) as connection:
            if connection.execute("SELECT to_regclass('alembic_version')").fetchone() != (None,):
                return
        template = _postgres_template(server)
        with psycopg.connect(server.render_as_string(hide_password=False), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{url.database}"')
            connection.execute(f'CREATE DATABASE "{url.database}" TEMPLATE "{template}"')


@functools.cache
def _sqlite_template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="gpujudge-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    upgrade(Settings(data_dir=folder))
    # The last connection to close empties the write-ahead log: the one file is all.
    assert not (folder / "gpujudge.db-wal").exists()
    return folder / "gpujudge.db"


@functools.cache
def _postgres_template(server: URL) -> str:
    kept = contextlib.ExitStack()
    url = kept.enter_context(postgres.new_database(server.render_as_string(hide_password=False)))
    atexit.register(_forget, kept)
    upgrade(Settings(data_dir=_sqlite_template().parent, database_url=url))
    return url.rpartition("/")[2]


def _forget(kept: contextlib.ExitStack) -> None:
    """Drops the template, unless its server was one of this process's own and has ended."""
    with contextlib.suppress(psycopg.OperationalError):
        kept.close()
