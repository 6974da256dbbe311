"""A PostgreSQL database that is not in UTF8: each command says so, and which command makes one that is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builds import ROOT

pytestmark = [pytest.mark.postgres, pytest.mark.exhaustive(by_file=True)]

NewDatabase = Callable[..., str]
_UP = ("up", "--port", "0", "-d", "emulator")


def _run(command: tuple[str, ...], database_url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in a process of its own: its output in one piece, in ``stdout``."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "cli.main", *command],
        cwd=ROOT,
        text=True,
        timeout=120,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={
            **os.environ,
            "COLUMNS": "300",
            "GPUJUDGE_DATABASE_URL": database_url,
            "GPUJUDGE_DATA_DIR": str(folder / "data"),
        },
    )


def _check_told(done: subprocess.CompletedProcess[str], database_url: str, encoding: str) -> None:
    name = database_url.rpartition("/")[2]
    assert done.returncode == 1, done.stdout
    assert f"the database {name} has the encoding {encoding}; gpujudge needs UTF8" in done.stdout
    assert "createdb -E UTF8 -T template0 NAME" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("command", "encoding"),
    [
        (("db", "upgrade"), "SQL_ASCII"),
        (("db", "upgrade"), "LATIN1"),
        (("admin", "notice", "list"), "SQL_ASCII"),
        pytest.param(_UP, "SQL_ASCII", marks=[pytest.mark.jail, pytest.mark.nvcc]),
        (("doctor",), "SQL_ASCII"),
    ],
    ids=lambda one: one if isinstance(one, str) else " ".join(one[:2]),
)
def test_it_is_told_with_the_remedy(
    command: tuple[str, ...], encoding: str, new_postgres_database: NewDatabase, tmp_path: Path
) -> None:
    database_url = new_postgres_database(encoding)
    _check_told(_run(command, database_url, tmp_path), database_url, encoding)


def test_nothing_is_restored_into_it(new_postgres_database: NewDatabase, tmp_path: Path) -> None:
    good, bad = new_postgres_database(), new_postgres_database("SQL_ASCII")
    file = str(tmp_path / "backup")
    for command in (("db", "upgrade", "--no-packs"), ("backup", file)):
        done = _run(command, good, tmp_path)
        assert done.returncode == 0, done.stdout
    _check_told(_run(("restore", file), bad, tmp_path), bad, "SQL_ASCII")
