"""One machine finds in the database what another has built, though they share no folder."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, func, select
from sqlalchemy.orm import Session, sessionmaker

from judge.compile.nvcc import build_submission
from judge.compile.target import Target
from judge.settings import JudgeSettings
from store.clock import utc_now
from store.database import make_engine, make_session_factory
from store.models import Artifact, Build
from store.queue.artifacts import purge_artifacts
from store.queue.shared_builds import load_build, purge_builds, store_build
from store.settings import Settings
from tests.databases import give_schema
from tests.unit.judge.compile.challenge import PLAIN, FakeChallenge
from workers.shared_builds import DatabaseBuilds

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
KEY = "a" * 64


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    settings = Settings(data_dir=tmp_path / "data", database_url=url)
    give_schema(settings)
    engine = make_engine(settings)
    yield engine
    engine.dispose()


@pytest.fixture
def sessions(engine: Engine) -> sessionmaker[Session]:
    return make_session_factory(engine)


def _machine(folder: Path, engine: Engine) -> JudgeSettings:
    reads, sessions = make_session_factory(engine, read_only=True), make_session_factory(engine)
    return JudgeSettings(folder, shared_builds=DatabaseBuilds(reads, sessions, utc_now))


@pytest.mark.nvcc
@pytest.mark.jail
def test_a_build_worker_finds_what_another_machine_has_built(tmp_path: Path, engine: Engine) -> None:
    machines = [_machine(tmp_path / name, engine) for name in ("a", "b")]
    target = Target("emulator", "compute_80")
    for source, ok in ((PLAIN, True), (PLAIN + "int broken = ;\n", False)):
        reports, artifacts = zip(
            *(build_submission(source.encode(), FakeChallenge(), target, machine) for machine in machines), strict=True
        )
        assert [report.ok for report in reports] == [ok, ok]
        assert [report.cached for report in reports] == [False, True]
        assert artifacts[0] == artifacts[1]
        assert reports[0].log == reports[1].log


def test_a_database_that_is_away_costs_a_compilation_only(tmp_path: Path) -> None:
    # A database without tables refuses everything.
    engine = make_engine(Settings(data_dir=tmp_path / "empty"))
    shared = _machine(tmp_path / "a", engine).shared_builds
    assert shared is not None
    assert shared.load(KEY) is None
    shared.store(KEY, b"{}", None)
    engine.dispose()


def test_builds_go_with_their_artifacts_or_when_they_are_old(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        store_build(session, KEY, b"{}", ("d", b"library"), now=T0)
        store_build(session, "b" * 64, b"{}", None, now=T0)
    with sessions.begin() as session:
        assert load_build(session, KEY) == (b"{}", b"library")
        assert load_build(session, "b" * 64) == (b"{}", None)
        assert load_build(session, "c" * 64) is None
        purge_builds(session, now=T0, keep_s=60)
        assert purge_artifacts(session, now=T0, keep_s=60) == 0
        session.execute(delete(Artifact))
        assert load_build(session, KEY) is None
        purge_builds(session, now=utc_now(), keep_s=60)
        assert session.scalar(select(func.count()).select_from(Build)) == 0
