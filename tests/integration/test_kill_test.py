"""The kill test, short, on both kinds of database and broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kill_test import run

#: tests/integration/workers/test_kill9.py kills workers with a judge that takes no time.
pytestmark = [pytest.mark.exhaustive(costly=True), pytest.mark.jail, pytest.mark.nvcc, pytest.mark.timeout(900)]


def _expect_no_damage(
    folder: Path,
    *,
    submissions: int,
    most_kills: int,
    seed: int,
    database_url: str | None = None,
    redis_url: str | None = None,
) -> None:
    report = run(
        folder,
        submissions=submissions,
        every_s=2.0,
        deadline_s=300.0,
        seed=seed,
        most_kills=most_kills,
        database_url=database_url,
        redis_url=redis_url,
    )
    assert not report.damage
    assert report.kills


@pytest.mark.slow(20)
def test_a_kill_or_two(tmp_path: Path) -> None:
    _expect_no_damage(tmp_path, submissions=2, most_kills=2, seed=5)


@pytest.mark.slow(40)
def test_on_sqlite_and_files(tmp_path: Path) -> None:
    _expect_no_damage(tmp_path, submissions=5, most_kills=6, seed=3)


@pytest.mark.slow(40)
@pytest.mark.postgres
@pytest.mark.redis
def test_on_postgresql_and_redis(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    _expect_no_damage(tmp_path, submissions=5, most_kills=6, seed=4, database_url=postgres_url, redis_url=redis_url)
