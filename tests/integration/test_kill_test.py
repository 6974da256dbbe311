"""The kill test, short, on both kinds of database and broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kill_test import run

pytestmark = [pytest.mark.exhaustive, pytest.mark.jail, pytest.mark.nvcc, pytest.mark.timeout(900)]


@pytest.mark.slow(20)
def test_a_kill_or_two(tmp_path: Path) -> None:
    report = run(tmp_path, submissions=2, every_s=2.0, deadline_s=300.0, seed=5, most_kills=2)
    assert not report.damage
    assert report.kills


@pytest.mark.exhaustive(costly=True)
@pytest.mark.slow(40)
def test_on_sqlite_and_files(tmp_path: Path) -> None:
    report = run(tmp_path, submissions=5, every_s=2.0, deadline_s=300.0, seed=3, most_kills=6)
    assert not report.damage
    assert report.kills


@pytest.mark.exhaustive(costly=True)
@pytest.mark.slow(40)
@pytest.mark.postgres
@pytest.mark.redis
def test_on_postgresql_and_redis(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    report = run(
        tmp_path,
        submissions=5,
        every_s=2.0,
        deadline_s=300.0,
        seed=4,
        most_kills=6,
        database_url=postgres_url,
        redis_url=redis_url,
    )
    assert not report.damage
    assert report.kills
