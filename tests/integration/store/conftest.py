"""Both databases, migrated and empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker

from store.clock import utc_now
from store.database import make_engine, make_session_factory
from store.models import User
from store.settings import Settings
from tests.cheap_passwords import HASHER, hash_cheaply
from tests.databases import give_schema

hash_cheaply()

#: Of "a password of tests".
ADAS_HASH = HASHER.hash("a password of tests")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a database in which nothing was ever done."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return Settings(data_dir=tmp_path / "data", database_url=url)


@pytest.fixture
def engine(empty_database: Settings) -> Iterator[Engine]:
    give_schema(empty_database)
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
        user = User(username="Ada", username_key="ada", password_hash=ADAS_HASH, created_at=utc_now())
        session.add(user)
        return user
