"""The services that tests are given are real ones."""

from __future__ import annotations

import psycopg
import pytest
import redis


@pytest.mark.postgres
def test_postgres_database_is_new_and_empty(postgres_url: str) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", "", 1)) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert tables == (0,)


@pytest.mark.redis
def test_redis_database_is_empty(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        client.set("left", "behind")


@pytest.mark.redis
def test_redis_database_is_emptied_between_tests(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0


@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.jail
@pytest.mark.nvcc
@pytest.mark.browser
def test_a_marker_alone_is_enough() -> None:
    """Skipped or failed by the gate where a thing is missing; nothing to see where all is there."""
