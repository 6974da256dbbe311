"""The forms in which each release left data on people's disks: later versions go on with them.

Nothing here changes after its release.

A folder for each release that changed one of these forms, made by ``python -m tests.releases.freeze``:

- ``schema.sql``: the tables of a new database, as SQLite prints them, and the revision.
- ``packs``: challenges, and ``digests.json`` with the version and digest of each: results refer to them.
- ``results.jsonl``: a file of ``gpujudge judge --jsonl``.

``tests/stored_judgements`` has the judgements, and ``tests/integration/web/test_upgraded_site.py`` the rows of a site.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import Engine, text

HOME = Path(__file__).resolve().parent
RELEASES = sorted(path.name for path in HOME.glob("v*"))


def schema_of(engine: Engine) -> str:
    """Returns the statements that make an SQLite database's tables and indexes, tables first, by name."""
    with engine.connect() as connection:
        found = connection.execute(
            text(
                "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name <> 'alembic_version'"
                " ORDER BY type DESC, name"
            )
        )
        return "".join(f"{row[0]};\n" for row in found)


def make_database(release: str, path: Path) -> None:
    """Makes the SQLite database of a release, with one user in it, Ada."""
    schema = (HOME / release / "schema.sql").read_text()
    database = sqlite3.connect(path)
    try:
        database.executescript(schema)
        database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
        database.execute("INSERT INTO alembic_version VALUES (?)", [revision_of(schema)])
        database.execute(
            "INSERT INTO users (username, username_key, password_hash, is_active, role, created_at)"
            " VALUES ('Ada', 'ada', 'of old', 1, 'user', '2025-01-10 12:00:00')"
        )
        database.commit()
    finally:
        database.close()


def revision_of(schema: str) -> str:
    """Returns the revision that the first line of a ``schema.sql`` names."""
    return schema.partition("\n")[0].removeprefix("-- revision ")
