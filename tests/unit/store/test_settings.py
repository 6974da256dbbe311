"""Settings: where they come from, what they refuse, and the key that is made once."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from store.settings import Settings, builtin_packs, load_secret_key

ROOT = Path(__file__).resolve().parents[3]


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
    monkeypatch.setenv("GPUJUDGE_PORT", "99")
    settings = Settings()
    assert settings.pack_paths == (Path("/a/packs"), Path("/b"))
    assert settings.port == 99
    with pytest.raises(ValidationError, match="frozen"):
        settings.port = 1  # type: ignore[misc]


def test_what_the_engine_gets(tmp_path: Path) -> None:
    engine = Settings(data_dir=tmp_path, nvcc=Path("/n"), jail="off", emulator_threads=3).judge_settings()
    assert (engine.data_dir, engine.nvcc, engine.jail, engine.emulator_threads) == (tmp_path, Path("/n"), "off", 3)


def test_the_secret_key_is_made_once_and_private(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    key = load_secret_key(settings)
    assert len(key) >= 32
    assert load_secret_key(settings) == key
    assert stat.S_IMODE((settings.data_dir / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in settings.data_dir.iterdir()] == ["secret_key"]
    assert load_secret_key(Settings(data_dir=tmp_path, secret_key="given")) == "given"  # type: ignore[arg-type]


def test_many_processes_asking_first_get_one_key(tmp_path: Path) -> None:
    code = "from store.settings import *; print(load_secret_key(Settings()))"
    asking = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"GPUJUDGE_DATA_DIR": str(tmp_path / "data"), "PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    keys = {process.communicate(timeout=30)[0] for process in asking}
    assert len(keys) == 1
    assert len(keys.pop().strip()) >= 32
