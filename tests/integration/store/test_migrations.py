"""The schema: from empty, back and again; the same as the models'; migrated once, however many start at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Column, Integer, Table, inspect

from store.database import make_engine
from store.migrate import current_revision, differences, downgrade, head_revision, is_current, upgrade
from store.models import Base
from store.settings import Settings

#: Each makes databases of its own.
pytestmark = pytest.mark.exhaustive(by_file=True)

ROOT = Path(__file__).resolve().parents[3]


def test_up_down_up_leaves_the_models_schema(empty_database: Settings) -> None:
    engine = make_engine(empty_database, create=True)
    assert current_revision(engine) is None
    upgrade(empty_database)
    assert is_current(engine)
    tables = set(inspect(engine).get_table_names())
    assert tables == {*Base.metadata.tables, "alembic_version"}
    downgrade(empty_database, "base")
    assert set(inspect(engine).get_table_names()) == {"alembic_version"}
    assert not is_current(engine)
    upgrade(empty_database)
    assert current_revision(engine) == head_revision()
    assert set(inspect(engine).get_table_names()) == tables
    upgrade(empty_database)
    engine.dispose()


def test_autogenerate_finds_nothing_and_would_find_something(empty_database: Settings) -> None:
    upgrade(empty_database)
    engine = make_engine(empty_database)
    assert differences(engine) == []
    Table("only_in_the_models", Base.metadata, Column("id", Integer, primary_key=True))
    try:
        assert [change[0] for change in differences(engine)] == ["add_table"]
    finally:
        Base.metadata.remove(Base.metadata.tables["only_in_the_models"])
        engine.dispose()


def test_a_failed_migration_leaves_nothing_half_done(empty_database: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from alembic import op

    real = op.create_table

    def fail_at_jobs(name: str, *columns: object, **options: object) -> object:
        if name == "jobs":
            raise RuntimeError("the power went")
        return real(name, *columns, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(op, "create_table", fail_at_jobs)
    with pytest.raises(RuntimeError, match="power"):
        upgrade(empty_database)
    engine = make_engine(empty_database)
    assert set(inspect(engine).get_table_names()) <= {"alembic_version"}
    assert current_revision(engine) is None
    monkeypatch.undo()
    upgrade(empty_database)
    assert is_current(engine)
    engine.dispose()


def test_many_starting_at_once_migrate_once(empty_database: Settings) -> None:
    code = "from store.migrate import upgrade; from store.settings import Settings; upgrade(Settings())"
    environment = {
        "PATH": "/usr/bin:/bin",
        "GPUJUDGE_DATA_DIR": str(empty_database.data_dir),
        "GPUJUDGE_DATABASE_URL": empty_database.sqlalchemy_url.render_as_string(hide_password=False),
    }
    starting = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", code], cwd=ROOT, env=environment, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in starting:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
    engine = make_engine(empty_database)
    assert is_current(engine)
    engine.dispose()
