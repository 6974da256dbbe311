"""Settings: where they come from, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from store.settings import Settings, builtin_packs


def test_nothing_set_means_sqlite_and_files_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings()
    assert settings.data_dir == tmp_path / "data"
    assert settings.sqlalchemy_url.render_as_string() == f"sqlite:///{tmp_path}/data/gpujudge.db"
    assert settings.redis_url is None
    assert settings.pack_paths == (builtin_packs(),)
    assert not settings.data_dir.exists(), "making settings makes nothing on disk"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("postgresql://u:p@h:5/d", "postgresql+psycopg://u:p@h:5/d"),
        ("postgres://u@h/d", "postgresql+psycopg://u@h/d"),
        ("postgresql+psycopg://u@h/d", "postgresql+psycopg://u@h/d"),
        ("sqlite:////var/x.db", "sqlite:////var/x.db"),
    ],
)
def test_urls_name_their_driver(given: str, meant: str) -> None:
    assert Settings(database_url=given).sqlalchemy_url.render_as_string(hide_password=False) == meant


def test_other_databases_are_refused() -> None:
    with pytest.raises(ValidationError, match="mysql is not a database"):
        Settings(database_url="mysql://h/d")


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUJUDGE_PACK_PATHS", "/a/packs:/b")
    monkeypatch.setenv("GPUJUDGE_MAX_FAILURES", "9")
    settings = Settings()
    assert settings.pack_paths == (builtin_packs(), Path("/a/packs"), Path("/b"))
    assert settings.max_failures == 9
    with pytest.raises(ValidationError, match="frozen"):
        settings.max_failures = 1  # type: ignore[misc]


def test_what_the_engine_gets(tmp_path: Path) -> None:
    engine = Settings(data_dir=tmp_path, nvcc=Path("/n"), jail="off", emulator_threads=3).judge_settings()
    assert (engine.data_dir, engine.nvcc, engine.jail, engine.emulator_threads) == (tmp_path, Path("/n"), "off", 3)
