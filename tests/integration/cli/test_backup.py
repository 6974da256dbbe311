"""`gpujudge backup` and `restore`, as the operators' guide has them, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, text
from typer.testing import CliRunner, Result

from cli.app import app
from cli.errors import CliError
from store.clock import utc_now
from store.database import make_engine, make_session_factory
from store.migrate import upgrade
from store.models import User
from store.settings import Settings
from tests.builds import ROOT
from tests.unit.test_docs import blocks

#: Each starts processes, on both databases.
pytestmark = pytest.mark.exhaustive(by_file=True)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def settings(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A server with a migrated, empty database, where the commands find it."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    if url is not None:
        for program in ("pg_dump", "pg_restore", "psql"):
            if shutil.which(program) is None:
                pytest.skip(f"{program} is not installed")
        monkeypatch.setenv("GPUJUDGE_DATABASE_URL", url)
    monkeypatch.setenv("GPUJUDGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    made = Settings()
    upgrade(made)
    return made


@pytest.fixture
def sqlite_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("GPUJUDGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    upgrade(Settings())
    return Settings()


def _add(settings: Settings, name: str) -> None:
    engine = make_engine(settings)
    with make_session_factory(engine).begin() as session:
        session.add(User(username=name, username_key=name, password_hash="-", created_at=utc_now()))
    engine.dispose()


def _names(settings: Settings) -> list[str]:
    engine = make_engine(settings)
    with make_session_factory(engine, read_only=True)() as session:
        names = list(session.scalars(select(User.username).order_by(User.id)))
    engine.dispose()
    return names


def _run(*argv: str) -> Result:
    return CliRunner().invoke(app, list(argv))


def _refusal(*argv: str) -> CliError:
    error = _run(*argv).exception
    assert isinstance(error, CliError), error
    return error


def _documented() -> Iterator[list[str]]:
    for block in blocks(ROOT / "docs/operators.md", "sh"):
        for line in block.splitlines():
            if line.startswith(("gpujudge backup", "gpujudge restore")):
                yield shlex.split(line)[1:]


def test_the_guides_commands_bring_back_what_was_backed_up(settings: Settings) -> None:
    save, back = _documented()
    _add(settings, "ada")
    assert _run(*save).exit_code == 0
    assert Path("gpujudge.backup").stat().st_mode & 0o777 == 0o600
    _add(settings, "eve")
    done = _run(*back)
    assert done.exit_code == 0, done.exception
    assert _names(settings) == ["ada"]
    _add(settings, "bob")  # sequences and constraints are there, too
    assert _names(settings) == ["ada", "bob"]


def test_data_is_replaced_only_if_asked_and_no_backup_is_overwritten(settings: Settings) -> None:
    _add(settings, "ada")
    told = json.loads(_run("backup", "one", "--json").stdout)
    assert told == {"file": "one", "size_bytes": Path("one").stat().st_size}
    assert "exists already" in _refusal("backup", "one").message
    assert "there is no folder" in _refusal("backup", "nowhere/one").message
    _add(settings, "bob")
    refused = _refusal("restore", "one")
    assert "has data already" in refused.message
    assert "--replace" in refused.hint
    assert _names(settings) == ["ada", "bob"]


def test_a_newer_schema_is_refused(settings: Settings) -> None:
    _add(settings, "ada")
    engine = make_engine(settings)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert _run("backup", "newer").exit_code == 0
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM alembic_version"))
    engine.dispose()
    assert "newer version" in _refusal("restore", "--replace", "newer").message


def test_a_damaged_or_foreign_file_changes_nothing(settings: Settings) -> None:
    for number in range(200):
        _add(settings, f"user-{number}")
    assert _run("backup", "whole").exit_code == 0
    content = Path("whole").read_bytes()
    Path("cut").write_bytes(content[: len(content) // 2])
    Path("text").write_text("no backup")
    _refusal("restore", "--replace", "cut")
    assert "is not a backup that `gpujudge backup` wrote" in _refusal("restore", "--replace", "text").message
    assert "cannot read" in _refusal("restore", "--replace", "missing").message
    assert len(_names(settings)) == 200


def test_a_database_in_use_is_left_alone(settings: Settings) -> None:
    _add(settings, "ada")
    assert _run("backup", "one").exit_code == 0
    engine = make_engine(settings)
    with engine.connect() as connection:
        connection.execute(text("SELECT 1 FROM users"))
        refused = _refusal("restore", "--replace", "one")
        assert "use" in refused.message
        assert "Stop the website and the workers" in refused.hint
    engine.dispose()
    assert _run("restore", "--replace", "one").exit_code == 0


@pytest.mark.usefixtures("sqlite_settings")
def test_the_other_kind_of_database_is_told() -> None:
    Path("of-postgres").write_bytes(b"PGDMP and more")
    told = _refusal("restore", "--replace", "of-postgres").message
    assert "a backup of PostgreSQL, and this server's database is SQLite" in told


def _with_log(settings: Settings, name: str) -> Callable[[], None]:
    """Adds a user whose row is in the log only, as after a crash. Returns what puts that log in its place."""
    database = Path(str(settings.sqlalchemy_url.database))
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(
            "INSERT INTO users (username, username_key, created_at) VALUES (?, ?, '2026-01-01')", (name, name)
        )
        connection.commit()
        kept = {suffix: Path(f"{database}{suffix}").read_bytes() for suffix in ("", "-wal")}

    def put() -> None:
        for suffix, content in kept.items():
            Path(f"{database}{suffix}").write_bytes(content)

    return put


def test_an_old_log_is_never_replayed_into_the_restored_database(sqlite_settings: Settings) -> None:
    database = Path(str(sqlite_settings.sqlalchemy_url.database))
    _add(sqlite_settings, "ada")
    assert _run("backup", "one").exit_code == 0
    crash = _with_log(sqlite_settings, "eve")
    crash()
    assert _run("backup", "two").exit_code == 0  # what is in the log only is in the backup
    crash()
    kept = json.loads(_run("restore", "--replace", "one", "--json").stdout)["kept"]
    assert _names(sqlite_settings) == ["ada"]
    with closing(sqlite3.connect(kept)) as old:
        assert [row[0] for row in old.execute("SELECT username FROM users")] == ["ada", "eve"]
    # The database was lost, and only its log is left.
    crash()
    database.unlink()
    assert _run("restore", "one").exit_code == 0
    assert _names(sqlite_settings) == ["ada"]
    assert _run("restore", "--replace", "two").exit_code == 0
    assert _names(sqlite_settings) == ["ada", "eve"]


def test_a_damaged_database_is_replaced(sqlite_settings: Settings) -> None:
    _add(sqlite_settings, "ada")
    assert _run("backup", "one").exit_code == 0
    Path(str(sqlite_settings.sqlalchemy_url.database)).write_bytes(b"the disk forgot" * 1000)
    assert "has data already" in _refusal("restore", "one").message
    assert _run("restore", "--replace", "one").exit_code == 0
    assert _names(sqlite_settings) == ["ada"]
