"""The website's settings, and the key that is made once."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from web.settings import WebSettings, load_secret_key

ROOT = Path(__file__).resolve().parents[3]


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUJUDGE_PORT", "99")
    monkeypatch.setenv("GPUJUDGE_MAX_FAILURES", "9")
    settings = WebSettings()
    assert (settings.port, settings.max_failures) == (99, 9)


def test_the_secret_key_is_made_once_and_private(tmp_path: Path) -> None:
    settings = WebSettings(data_dir=tmp_path / "data")
    key = load_secret_key(settings)
    assert len(key) >= 32
    assert load_secret_key(settings) == key
    assert stat.S_IMODE((settings.data_dir / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in settings.data_dir.iterdir()] == ["secret_key"]
    assert load_secret_key(WebSettings(data_dir=tmp_path, secret_key="given")) == "given"  # type: ignore[arg-type]


def test_many_processes_asking_first_get_one_key(tmp_path: Path) -> None:
    code = "from web.settings import *; print(load_secret_key(WebSettings()))"
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


@pytest.mark.parametrize(
    ("given", "processors", "expected"),
    [
        ({}, 8, (1, 64)),
        ({"redis_url": "redis://localhost"}, 1, (1, 64)),
        ({"redis_url": "redis://localhost"}, 8, (2, 32)),
        ({"redis_url": "redis://localhost", "web_processes": 1}, 8, (1, 64)),
        ({"redis_url": "redis://localhost", "web_processes": 16}, 8, (16, 8)),
        ({"redis_url": "redis://localhost", "web_threads": 48}, 8, (2, 48)),
    ],
)
def test_processes_share_the_threads_unless_told(
    given: dict[str, Any], processors: int, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(processors)))
    settings = WebSettings(**given)
    assert (settings.processes, settings.threads) == expected
