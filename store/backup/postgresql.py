"""Backs up and restores a PostgreSQL database by ``pg_dump``, ``pg_restore`` and ``psql``.

A restoration is one transaction, which also drops the tables that were there: it happens as a whole or not at all.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from sqlalchemy import Engine, create_engine, inspect, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from store.backup.errors import BackupError
from store.database import require_utf8
from store.models import Base

_OWN = ("--no-owner", "--no-privileges")
_TABLES = frozenset({*Base.metadata.tables, "alembic_version"})
#: A connection that was closed is in PostgreSQL's list a moment longer.
_LEAVING_S = 10.0
_STOP = "Stop the website and the workers, and try again."


def dump(url: URL, target: Path) -> None:
    """Writes the database as of one moment into ``target``, compressed. Others may write meanwhile."""
    _run(["pg_dump", "--format=custom", *_OWN, f"--file={target}", f"--dbname={_address(url)}"], url)


def revision(source: Path) -> str | None:
    """Returns the revision of the schema in a backup. Raises BackupError if the file is damaged or foreign."""
    rows = _run(["pg_restore", "--data-only", "--table=alembic_version", "--file=-", str(source)])
    found = re.search(r"^COPY \S*alembic_version .*\n(\w+)$", rows, flags=re.MULTILINE)
    if not found:
        raise BackupError(f"{source} is not a backup of gpujudge: it has no revision of the schema")
    return found[1]


def restore(url: URL, source: Path, *, replace: bool) -> None:
    """Replaces gpujudge's tables by those of ``source``. Other tables in the database stay.

    Raises BackupError, and WrongEncoding if the database is not in UTF8.
    """
    engine = create_engine(url, connect_args={"connect_timeout": 5})
    require_utf8(engine)
    try:
        present = _present_tables(engine)
        if present and not replace:
            where = url.render_as_string(hide_password=True)
            raise BackupError(f"{where} has data already", "To replace it: gpujudge restore --replace FILE")
        _refuse_if_used(engine)
    except SQLAlchemyError as error:
        raise BackupError(f"the database is away: {getattr(error, 'orig', error)}") from None
    finally:
        engine.dispose()
    _replay(url, source, drop=present)


def _present_tables(engine: Engine) -> list[str]:
    return sorted(_TABLES.intersection(inspect(engine).get_table_names()))


def _refuse_if_used(engine: Engine) -> None:
    query = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND coalesce(backend_type, 'client backend') = 'client backend'"
    )
    until = time.monotonic() + _LEAVING_S
    # Each look is a transaction of its own: within one, the view does not change.
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while others := connection.scalar(query):
            if time.monotonic() > until:
                raise BackupError(f"{others} other connections use the database", _STOP)
            time.sleep(0.1)


def _replay(url: URL, source: Path, *, drop: Iterable[str]) -> None:
    into = [
        _program("psql"),
        "--no-psqlrc",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
        "--file=-",
        f"--dbname={_address(url)}",
    ]
    with tempfile.TemporaryFile() as said:
        # Unbuffered: pg_restore writes to the same pipe.
        with subprocess.Popen(
            into, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, env=_env(url)
        ) as psql:
            assert psql.stdin is not None
            told = _feed(psql.stdin, source, drop)
        said.seek(0)
        answer = said.read().decode(errors="replace")
    if told or psql.returncode != 0:
        raise BackupError(f"the database is as it was: {_last_line(answer) or told or 'psql failed'}")


def _feed(psql: IO[bytes], source: Path, drop: Iterable[str]) -> str:
    """Sends psql the whole transaction, and its end only if all of the backup could be read. Returns what failed."""
    begin = ["BEGIN;", "SET LOCAL lock_timeout = '10s';", *(f'DROP TABLE "{name}" CASCADE;' for name in drop)]
    with tempfile.TemporaryFile() as said:
        try:
            psql.write("\n".join([*begin, ""]).encode())
            read = subprocess.run(
                [_program("pg_restore"), *_OWN, "--file=-", str(source)],
                stdin=subprocess.DEVNULL,
                stdout=psql,
                stderr=said,
                check=False,
            )
            if read.returncode == 0:
                # The backup's own settings reach to the end of the session, which is here.
                psql.write(b"\nCOMMIT;\n")
            psql.close()
        except BrokenPipeError:
            return "psql ended early"
        said.seek(0)
        if read.returncode == 0:
            return ""
        return _last_line(said.read().decode(errors="replace")) or "pg_restore failed"


def _run(argv: Sequence[str], url: URL | None = None) -> str:
    """Returns the output of a program of PostgreSQL. Raises BackupError with its message if it failed."""
    done = subprocess.run(
        [_program(argv[0]), *argv[1:]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=_env(url),
    )
    if done.returncode != 0:
        raise BackupError(_last_line(done.stderr) or f"{argv[0]} failed")
    return done.stdout


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise BackupError(f"{name} is not installed", "Install PostgreSQL's client: apt install postgresql-client")
    return path


def _address(url: URL) -> str:
    """Returns the address without the password: other users see the arguments of processes."""
    return url.set(drivername="postgresql", password=None).render_as_string()


def _env(url: URL | None) -> dict[str, str]:
    password = {} if url is None or url.password is None else {"PGPASSWORD": str(url.password)}
    return {**os.environ, **password, "LC_ALL": "C.UTF-8"}


def _last_line(answer: str) -> str:
    lines = [line for line in answer.strip().splitlines() if line.strip()]
    return lines[-1] if lines else ""
