"""A PostgreSQL server for tests: the one named by GPUJUDGE_TEST_DATABASE_URL, the local one, or one of our own.

Every database handed out is new, empty and dropped at the end.
"""

from __future__ import annotations

import atexit
import contextlib
import getpass
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg


class Unavailable(Exception):
    """Why there is no server."""


def _accepts(url: str) -> str | None:
    """None when a database can be made there, otherwise why not."""
    try:
        with psycopg.connect(url, connect_timeout=3, autocommit=True) as connection:
            row = connection.execute(
                "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
    except psycopg.Error as error:
        return str(error).strip().splitlines()[0]
    return None if row and row[0] else "its user may not create databases"


def _installed_binaries() -> Path | None:
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if versions:
        return versions[-1].parent
    found = shutil.which("postgres")
    return Path(found).resolve().parent if found else None


def _unprivileged() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root: the user that it runs as instead, or None to stay who we are."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise Unavailable("running as root, and there is no user postgres or nobody to run PostgreSQL as")


@contextlib.contextmanager
def _own_server() -> Iterator[str]:
    binaries = _installed_binaries()
    if binaries is None:
        raise Unavailable("no server answers on 127.0.0.1:5432 and PostgreSQL is not installed")
    user = _unprivileged()
    # Not under pytest's own folder: that one is closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="gpujudge-postgres-"))
    data, as_user = folder / "data", ({} if user is None else {"user": user.pw_uid, "group": user.pw_gid})
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "log"
    options = f"-h 127.0.0.1 -p {port} -c unix_socket_directories='' -c fsync=off -c full_page_writes=off"

    def call(*argv: str) -> None:
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, **as_user)  # type: ignore[call-overload]
        if done.returncode != 0:
            raise Unavailable(f"{Path(argv[0]).name} failed: {(done.stderr or done.stdout).strip()[-300:]}")

    try:
        call(str(binaries / "initdb"), "-D", str(data), "-U", "gpujudge", "-A", "trust", "-E", "UTF8", "--no-sync")
        # Its output goes to the log: a pipe would stay open as long as the server lives.
        call(str(binaries / "pg_ctl"), "-D", str(data), "-l", str(log), "-w", "-s", "-o", options, "start")
        try:
            yield f"postgresql://gpujudge@127.0.0.1:{port}/postgres"
        finally:
            call(str(binaries / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "-s", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The URL (``postgresql://``) of a server where databases can be made. Raises Unavailable with the reason."""
    named = os.environ.get("GPUJUDGE_TEST_DATABASE_URL")
    if named:
        url = named.replace("postgresql+psycopg://", "postgresql://", 1)
        reason = _accepts(url)
        if reason:
            raise Unavailable(f"GPUJUDGE_TEST_DATABASE_URL: {reason}")
        yield url
        return
    for user in dict.fromkeys((getpass.getuser(), "postgres")):
        url = f"postgresql://{user}@127.0.0.1:5432/template1"
        if _accepts(url) is None:
            yield url
            return
    with _own_server() as url:
        yield url


_CLOSING_S = 60.0
#: Databases of each server that were handed out and stayed empty.
_empty: dict[str, list[str]] = {}


@contextlib.contextmanager
def new_database(server_url: str, encoding: str = "UTF8") -> Iterator[str]:
    """The SQLAlchemy URL of a new, empty database, dropped on leaving."""
    name = f"gpujudge_test_{secrets.token_hex(6)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        if encoding == "UTF8" and (spare := _empty.get(urlsplit(server_url).netloc)):
            connection.execute(f'ALTER DATABASE "{spare.pop()}" RENAME TO "{name}"')
        else:
            # The server's locale goes with UTF8, and C with any encoding.
            locale = "" if encoding == "UTF8" else "LOCALE 'C'"
            connection.execute(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING '{encoding}' {locale}")
    try:
        base, _, _ = server_url.rpartition("/")
        yield f"{base.replace('postgresql://', 'postgresql+psycopg://', 1)}/{name}"
    finally:
        drop(server_url, [name])


def put_aside(server_url: str, name: str) -> None:
    """Renames a database in UTF8 in which nothing was ever done: ``new_database`` hands it out again."""
    spare, server = f"gpujudge_test_empty_{secrets.token_hex(6)}", urlsplit(server_url).netloc
    with psycopg.connect(server_url, autocommit=True) as connection:
        rename(connection, name, spare)
    if server not in _empty:
        atexit.register(_drop_empty, server_url)
    _empty.setdefault(server, []).append(spare)


def rename(connection: psycopg.Connection[Any], old: str, new: str) -> None:
    """Renames a database that nobody uses but connections that are being closed. Raises ObjectInUse."""
    # The server itself would look again only after 100 ms.
    users = "SELECT FROM pg_stat_activity WHERE datname = %s"
    until = time.monotonic() + _CLOSING_S
    while connection.execute(users, [old]).fetchone() is not None and time.monotonic() < until:
        time.sleep(0.002)
    connection.execute(f'ALTER DATABASE "{old}" RENAME TO "{new}"')


def drop(server_url: str, names: Sequence[str]) -> None:
    """Drops those of the databases that exist, whoever uses them."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        for name in names:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _drop_empty(server_url: str) -> None:
    # A server of this process's own has ended by now.
    with contextlib.suppress(psycopg.OperationalError):
        drop(server_url, _empty.pop(urlsplit(server_url).netloc))
