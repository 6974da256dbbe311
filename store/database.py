"""Makes database engines and sessions. The caller owns the transaction: nothing in ``store`` commits.

SQLite is configured for several processes: a write-ahead log, a busy timeout, foreign keys, and ``BEGIN IMMEDIATE`` for
every writing transaction. (A deferred transaction that reads and then writes fails at once with "database is locked" if
another process wrote in between, whatever the timeout.) For reading, take sessions from
``make_session_factory(engine, read_only=True)``: they neither wait for a writer nor block one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import QueuePool

from store.queue.inotify import Change, FileWatch
from store.settings import Settings

BUSY_TIMEOUT_S = 20
#: The connections that a process keeps open at most, unless it says how many it needs; a worker uses two or three.
_CONNECTIONS = 5
#: More are opened for a moment, up to so many.
_OVERFLOW = 35


class WrongEncoding(Exception):
    """A PostgreSQL database is not in UTF8, so it cannot store every text. ``remedy`` says what to do."""

    remedy = (
        "Make another one and name it in GPUJUDGE_DATABASE_URL: createdb -E UTF8 -T template0 NAME\n"
        "An encoding is chosen when a database is made, and cannot be changed afterwards."
    )

    def __init__(self, database: str, encoding: str) -> None:
        super().__init__(f"the database {database} has the encoding {encoding}; gpujudge needs UTF8")


def make_engine(settings: Settings, *, connections: int = _CONNECTIONS, create: bool = False) -> Engine:
    """Returns an engine for the configured database, without connecting to it.

    It opens connections as they are needed and keeps up to ``connections`` of them: as many as the process has threads
    that use one at the same time. Connections beyond that are closed after each use, which PostgreSQL pays dearly for.

    With ``create``, it creates an SQLite file that is missing, and its folder: only migrations do. Without, connecting
    raises OperationalError then. Raises ValueError for an SQLite database in memory. Connecting raises WrongEncoding if
    a PostgreSQL database is not in UTF8.
    """
    url = settings.sqlalchemy_url
    # The connection used last is taken first, so that a quiet process uses few of them.
    pool: dict[str, Any] = {
        "pool_size": connections,
        "max_overflow": _OVERFLOW,
        "pool_timeout": 10,
        "pool_use_lifo": True,
    }
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise ValueError("an SQLite database in memory cannot be shared between processes: name a file")
        if create:
            Path(url.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        engine = create_engine(url, poolclass=QueuePool, connect_args={"timeout": BUSY_TIMEOUT_S}, **pool)
        if not create:
            event.listen(engine, "do_connect", _open_existing)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    engine = create_engine(
        url,
        # Detects connections that the server closed (a restart, an idle timeout) before they are used.
        pool_pre_ping=True,
        **pool,
        connect_args={"connect_timeout": 5, "options": "-c timezone=utc"},
    )
    require_utf8(engine)
    return engine


def require_utf8(engine: Engine) -> None:
    """Makes each new connection of a PostgreSQL engine raise WrongEncoding unless the database is in UTF8."""
    # First, since SQLAlchemy asks for the version next, which psycopg returns as bytes from a database in SQL_ASCII.
    event.listen(engine, "connect", _check_encoding, insert=True)


def make_session_factory(engine: Engine, *, read_only: bool = False) -> sessionmaker[Session]:
    """Returns a factory of sessions whose objects stay readable after the commit.

    With ``read_only``, the database rejects writes.
    """
    if not read_only:
        return sessionmaker(engine, expire_on_commit=False)
    bound = engine.execution_options(gpujudge_read_only=True, postgresql_readonly=True)
    return sessionmaker(bound, expire_on_commit=False)


def watch_writes(engine: Engine) -> FileWatch:
    """Returns a watch that reports writes by any process to an SQLite database, but nothing for others."""
    url = engine.url
    sqlite = url.get_backend_name() == "sqlite" and url.database
    # Every commit is appended to the write-ahead log first.
    return FileWatch(Path(f"{url.database}-wal") if sqlite else None, Change.MODIFY)


def _open_existing(_dialect: Any, _record: Any, arguments: list[Any], options: dict[str, Any]) -> None:
    """Has SQLite open the file only if it is there: it would make an empty one."""
    if not str(arguments[0]).startswith("file:"):
        arguments[0], options["uri"] = f"{Path(arguments[0]).resolve().as_uri()}?mode=rw", True


def _check_encoding(connection: Any, _record: Any) -> None:
    # The server reports it whenever a client connects.
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise WrongEncoding(connection.info.dbname, encoding)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # Disables the driver's implicit BEGIN; _begin_sqlite begins transactions explicitly.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    if connection.get_execution_options().get("gpujudge_read_only"):
        connection.exec_driver_sql("PRAGMA query_only=ON")
        connection.exec_driver_sql("BEGIN")
    else:
        connection.exec_driver_sql("PRAGMA query_only=OFF")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
