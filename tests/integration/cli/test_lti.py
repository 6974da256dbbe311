"""The commands by which an operator registers learning platforms on the server's machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.app import app
from cli.errors import UsageError
from store.migrate import upgrade
from store.settings import Settings

_ADD = (
    *("admin", "lti", "add", "School", "--issuer", "https://school.example", "--client-id", "7"),
    *("--deployment", "1", "--deployment", "2", "--key-set-url", "https://school.example/jwks"),
    *("--auth-login-url", "https://school.example/auth", "--auth-token-url", "https://school.example/token"),
)


def test_a_platform_is_added_listed_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUJUDGE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("GPUJUDGE_PUBLIC_URL", "https://judge.example")
    upgrade(Settings(data_dir=tmp_path))
    run = CliRunner()
    added = run.invoke(app, [*_ADD, "--json"])
    assert added.exit_code == 0, added.output
    assert json.loads(added.stdout)["addresses"]["launch"] == "https://judge.example/lti/launch"
    again = run.invoke(app, list(_ADD))
    assert isinstance(again.exception, UsageError)
    assert "registered already" in str(again.exception)
    wrong = run.invoke(app, [each.replace("https://school.example/jwks", "jwks") for each in _ADD])
    assert "key set url" in str(wrong.exception)
    listed = json.loads(run.invoke(app, ["admin", "lti", "list", "--json"]).stdout)["platforms"]
    assert [(each["title"], each["deployments"]) for each in listed] == [("School", ["1", "2"])]
    assert run.invoke(app, ["admin", "lti", "remove", "1"]).exit_code == 0
    assert "there is no platform 1" in str(run.invoke(app, ["admin", "lti", "remove", "1"]).exception)
