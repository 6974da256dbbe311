"""The commands ``config check`` and ``config show``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.app import app
from cli.errors import UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, and an environment that is as before after the test."""
    for name in [name for name in os.environ if name.startswith("GPUJUDGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_right_settings_are_counted_and_readable_secrets_named(folder: Path) -> None:
    file = folder / "gpujudge.toml"
    file.write_text('sign_up = "closed"\nsecret_key = "hush"\n')
    file.chmod(0o644)
    ended = CliRunner().invoke(app, ["config", "check"])
    assert ended.exit_code == 0, ended.output
    assert f"{file}: 2 settings; the environment: 0. All are right." in ended.stdout
    assert f"chmod 600 {file}" in ended.stderr
    file.chmod(0o600)
    assert "chmod" not in CliRunner().invoke(app, ["config", "check"]).stderr


def test_every_mistake_is_told_at_once(folder: Path) -> None:
    (folder / "gpujudge.toml").write_text('port = "x"\nlog_level = "loud"\nlease_s = 0\n')
    ended = CliRunner().invoke(app, ["config", "check"])
    assert isinstance(ended.exception, UsageError)
    for name in ("port", "log_level", "lease_s"):
        assert f"{name} in gpujudge.toml" in str(ended.exception)
    assert "GPUJUDGE_PORT=8000" in (ended.exception.hint or "")


def test_settings_are_shown_with_where_they_come_from(folder: Path) -> None:
    (folder / "gpujudge.toml").write_text(
        'port = 8123\nsecret_key = "hush"\ndatabase_url = "postgresql://judge:hush@db/judge"\n'
    )
    os.environ["GPUJUDGE_PORT"] = "9000"
    ended = CliRunner().invoke(app, ["config", "show", "--json"])
    assert ended.exit_code == 0, ended.output
    assert "hush" not in ended.output
    rows = {row["name"]: (row["value"], row["from"]) for row in json.loads(ended.stdout)["settings"]}
    assert rows["port"] == ("9000", "environment")
    assert rows["database_url"] == ("postgresql://judge:(hidden)@db/judge", "gpujudge.toml")
    assert rows["sign_up"] == ("open", "default")
    assert rows["log_level"] == ("info", "default")
