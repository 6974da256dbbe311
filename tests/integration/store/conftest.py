"""Both databases, migrated and empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker

from store.accounts import create_user
from store.database import make_engine, make_session_factory
from store.migrate import upgrade
from store.models import User
from store.settings import Settings


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a database in which nothing was ever done."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return Settings(data_dir=tmp_path / "data", database_url=url)


@pytest.fixture
def engine(empty_database: Settings) -> Iterator[Engine]:
    upgrade(empty_database)
    engine = make_engine(empty_database)
    yield engine
    engine.dispose()


@pytest.fixture
def sessions(engine: Engine) -> sessionmaker[Session]:
    return make_session_factory(engine)


@pytest.fixture
def reads(engine: Engine) -> sessionmaker[Session]:
    return make_session_factory(engine, read_only=True)


@pytest.fixture
def ada(sessions: sessionmaker[Session]) -> User:
    with sessions.begin() as session:
        return create_user(session, username="Ada", password="a password of tests")
