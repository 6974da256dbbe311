"""Databases with this version's schema, copied from one that was migrated once in this process."""

from __future__ import annotations

import atexit
import contextlib
import functools
import secrets
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy
from sqlalchemy import URL, Engine, event, make_url

from store.migrate import upgrade
from store.settings import Settings
from tests.services import postgres

Connection = psycopg.Connection[Any]


class _Statements(dict[tuple[Any, ...], Any]):
    """Compiled statements for all databases of one kind, where SQLAlchemy keeps them for each dialect object."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get((type(key[0]), *key[1:]), default)

    def __setitem__(self, key: tuple[Any, ...], made: Any) -> None:
        super().__setitem__((type(key[0]), *key[1:]), made)


_statements = _Statements()


@event.listens_for(Engine, "engine_connect")
def _share_statements(connection: sqlalchemy.Connection) -> None:
    # Nearly each test has a database of its own, and would compile the same statements again.
    connection.execution_options(compiled_cache=_statements)


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
        server_url = server.render_as_string(hide_password=False)
        with psycopg.connect(own.render_as_string(hide_password=False)) as connection:
            if connection.execute("SELECT to_regclass('alembic_version')").fetchone() != (None,):
                return
        assert url.database
        template = _postgres_template(server)
        postgres.put_aside(server_url, url.database)
        with psycopg.connect(server_url, autocommit=True) as connection:
            if template.spare:
                connection.execute(f'ALTER DATABASE "{template.spare.pop()}" RENAME TO "{url.database}"')
            else:
                connection.execute(f'CREATE DATABASE "{url.database}" TEMPLATE "{template.name}"')
        _given[url.database] = template


def keep(database_url: str) -> None:
    """Keeps a database for the next ``give_schema``, emptied, which takes a tenth of the time of making another.

    Leaves it alone if its schema is not that of ``give_schema``, or if processes go on connecting to it.
    """
    url = make_url(database_url).set(drivername="postgresql")
    template = _given.pop(url.database or "", None)
    if template is None:
        return
    server = url.set(database="postgres").render_as_string(hide_password=False)
    spare = f"{template.name}_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        own = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        connection.execute(own, [url.database])
        with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as inside:
            if _schema_of(inside) != template.schema:
                return
            _empty(inside)
        try:
            postgres.rename(connection, str(url.database), spare)
        except psycopg.errors.ObjectInUse:
            return  # by processes that outlive their test
    template.spare.append(spare)


def _empty(connection: Connection) -> None:
    names = [name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    names.remove("alembic_version")
    row = connection.execute("SELECT " + ", ".join(f'EXISTS (SELECT FROM "{name}")' for name in names)).fetchone()
    assert row is not None
    filled = [f'"{name}"' for name, has_rows in zip(names, row, strict=True) if has_rows]
    if not filled:
        return
    try:
        # Foreign keys are not looked at; TRUNCATE would make new files for all tables that refer to these.
        connection.execute("SET session_replication_role = replica")
    except psycopg.errors.InsufficientPrivilege:
        connection.execute(f"TRUNCATE {', '.join(filled)} RESTART IDENTITY CASCADE")
    else:
        for name in filled:
            connection.execute(f"DELETE FROM {name}")
    connection.execute(
        "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences"
        " WHERE schemaname = 'public' AND last_value IS NOT NULL"
    )


def _schema_of(connection: Connection) -> str:
    """Returns a digest of all columns, indexes and constraints, and of the version."""
    found = connection.execute(
        """
        SELECT md5(string_agg(line, E'\n' ORDER BY line)) FROM (
            SELECT concat_ws(' ', attrelid::regclass, attname, atttypid, attnotnull, atthasdef) AS line
            FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = 'public'::regnamespace AND attnum > 0
            UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
            UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace
            UNION ALL SELECT version_num FROM alembic_version
        ) AS lines
        """
    ).fetchone()
    assert found is not None
    return str(found[0])


@functools.cache
def _sqlite_template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="gpujudge-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    upgrade(Settings(data_dir=folder))
    # The last connection to close empties the write-ahead log: the one file is all.
    assert not (folder / "gpujudge.db-wal").exists()
    return folder / "gpujudge.db"


@dataclass(frozen=True)
class _Template:
    """A migrated database to copy, the digest of its schema, and emptied copies that wait for a test."""

    name: str
    schema: str
    spare: list[str] = field(default_factory=list)


_given: dict[str, _Template] = {}


@functools.cache
def _postgres_template(server: URL) -> _Template:
    kept = contextlib.ExitStack()
    server_url = server.render_as_string(hide_password=False)
    url = kept.enter_context(postgres.new_database(server_url))
    atexit.register(_forget, kept)
    upgrade(Settings(data_dir=_sqlite_template().parent, database_url=url))
    with psycopg.connect(url.replace("+psycopg", "", 1)) as connection:
        template = _Template(url.rpartition("/")[2], _schema_of(connection))
    kept.callback(lambda: postgres.drop(server_url, template.spare))
    return template


def _forget(kept: contextlib.ExitStack) -> None:
    """Drops the template and its copies, unless its server was one of this process's own and has ended."""
    with contextlib.suppress(psycopg.OperationalError):
        kept.close()
