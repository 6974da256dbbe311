"""Databases, challenges and files of results that earlier releases left on people's disks go on working."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cli.result_lines import ResultLines
from judge.judgement_json import read_judgement
from judge.packs.collection.loader import load_pack
from store.database import make_engine
from store.migrate import current_revision, differences, is_current, upgrade
from store.settings import Settings
from tests.releases import HOME, RELEASES, make_database, revision_of, schema_of

pytestmark = pytest.mark.parametrize("release", RELEASES)


def test_its_database_gets_the_tables_of_today(release: str, tmp_path: Path) -> None:
    make_database(release, tmp_path / "gpujudge.db")
    upgrade(Settings(data_dir=tmp_path))
    engine = make_engine(Settings(data_dir=tmp_path))
    try:
        assert is_current(engine)
        assert differences(engine) == []
        with engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT username FROM users").scalars().all() == ["Ada"]
    finally:
        engine.dispose()


def test_its_migrations_are_as_they_were(release: str, tmp_path: Path) -> None:
    schema = (HOME / release / "schema.sql").read_text()
    upgrade(Settings(data_dir=tmp_path), revision_of(schema))
    engine = make_engine(Settings(data_dir=tmp_path))
    try:
        assert f"-- revision {current_revision(engine)}\n{schema_of(engine)}" == schema
    finally:
        engine.dispose()


def test_its_challenges_load_and_have_their_digests(release: str) -> None:
    digests = json.loads((HOME / release / "packs/digests.json").read_text())
    packs = [load_pack(HOME / release / "packs" / slug) for slug in digests]
    assert {pack.slug: {"version": pack.version, "digest": pack.digest} for pack in packs} == digests


def test_its_results_are_read_and_gone_on_with(release: str, tmp_path: Path) -> None:
    kept = shutil.copy(HOME / release / "results.jsonl", tmp_path)
    results = ResultLines(Path(kept), resume=True)
    results.close()
    read = [read_judgement(line["judgement"]) for line in results.lines]
    assert sorted(judgement.verdict for judgement in read) == ["AC", "CE", "WA"]
    assert [line["verdict"] for line in results.lines] == [judgement.verdict for judgement in read]
