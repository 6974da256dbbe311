"""Engines and sessions. The caller owns the transaction: nothing in ``store`` commits.

SQLite is made to behave under several processes: a write-ahead log, a busy timeout, foreign keys on, and every writing
transaction begins with ``BEGIN IMMEDIATE``. (A deferred one that reads and then writes fails at once with "database is
locked" when another process wrote in between, whatever the timeout.) Whoever only reads takes a session from
``make_session_factory(engine, read_only=True)``: it never waits for a writer, nor makes one wait.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import QueuePool

from store.inotify import Change, FileWatch
from store.settings import Settings

BUSY_TIMEOUT_S = 20
#: Enough for a web server of many threads, each of which holds a connection for milliseconds; workers use two or three.
_POOL: dict[str, Any] = {"pool_size": 5, "max_overflow": 35, "pool_timeout": 10}


def make_engine(settings: Settings) -> Engine:
    """The engine for the settings' database. Connects to nothing yet; makes the folder of an SQLite file."""
    url = settings.sqlalchemy_url
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise ValueError("an SQLite database in memory cannot be shared between processes: name a file")
        Path(url.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        engine = create_engine(url, poolclass=QueuePool, connect_args={"timeout": BUSY_TIMEOUT_S}, **_POOL)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    return create_engine(
        url,
        # A connection that the server closed (a restart, an idle timeout) is found out before it is used.
        pool_pre_ping=True,
        **_POOL,
        connect_args={"connect_timeout": 5, "options": "-c timezone=utc"},
    )


def make_session_factory(engine: Engine, *, read_only: bool = False) -> sessionmaker[Session]:
    """Sessions whose objects stay readable after the commit. ``read_only`` ones cannot write, on either database."""
    if not read_only:
        return sessionmaker(engine, expire_on_commit=False)
    bound = engine.execution_options(gpujudge_read_only=True, postgresql_readonly=True)
    return sessionmaker(bound, expire_on_commit=False)


def watch_writes(engine: Engine) -> FileWatch:
    """Tells that some process has written to an SQLite database; of another database nothing."""
    url = engine.url
    sqlite = url.get_backend_name() == "sqlite" and url.database
    # What is committed is written to the log first.
    return FileWatch(Path(f"{url.database}-wal") if sqlite else None, Change.MODIFY)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own idea of when a transaction begins is switched off: _begin_sqlite says it.
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
