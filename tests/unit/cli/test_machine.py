"""up, worker, doctor and db: what is wrong is said at once, in one line, with the exit code that is documented."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.doctor import Check
from cli.errors import UsageError
from cli.stack import choose_devices
from judge.judgement import DeviceInfo
from tests.builds import ROOT
from tests.unit.cli.conftest import Cli


@pytest.fixture(autouse=True)
def _own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUJUDGE_DATA_DIR", str(tmp_path / "data"))
    for name in ("GPUJUDGE_DATABASE_URL", "GPUJUDGE_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)


def test_db_upgrade_from_nothing_and_again(cli: Cli, tmp_path: Path) -> None:
    first = cli("db", "upgrade", "--json")
    assert first.exit_code == 0, first.stderr
    assert first.json["revision"]
    with sqlite3.connect(tmp_path / "data/gpujudge.db") as connection:
        slugs = {slug for (slug,) in connection.execute("SELECT slug FROM pack_versions")}
    connection.close()
    assert {"vector-add", "reduction", "softmax", "gemm", "attention", "int8-matmul"} <= slugs
    assert cli("db", "upgrade", "--json").json == first.json


def test_a_database_that_is_away(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)  # this process's own handlers stay
    monkeypatch.setenv("GPUJUDGE_DATABASE_URL", "postgresql://user:secret@127.0.0.1:1/x")
    for command in (("db", "upgrade"), ("up", "--port", "0")):
        ended = cli(*command)
        assert ended.exit_code == 1
        assert "is away" in ended.stderr
        assert "secret" not in ended.stderr


def test_a_setting_that_is_wrong_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUJUDGE_PORT", "many")
    ended = cli("db", "upgrade")
    assert ended.exit_code == 2
    assert "GPUJUDGE_PORT" in ended.stderr


@pytest.mark.parametrize("argv", [["worker", "builder"], ["worker", "device"], ["worker", "build", "-d", "emulator"]])
def test_a_worker_that_there_is_not(cli: Cli, argv: list[str]) -> None:
    assert cli(*argv).exit_code == 2


def test_a_broken_pack_is_said_to_be_broken(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "packs/mine").mkdir(parents=True)
    (tmp_path / "packs/mine/challenge.toml").write_text("schema = 2\n")
    (tmp_path / "kernel.cu").write_text("void solve();\n")
    ended = cli("judge", "kernel.cu", "--challenge", "mine", "--packs", "packs")
    assert ended.exit_code == 2
    assert "challenge.toml" in ended.stderr
    found = cli("pack", "verify", "packs/mine", "--quick", "--json")
    assert found.exit_code == 1
    assert found.json["ok"] is False
    assert found.json["challenges"][0]["findings"][0]["file"].endswith("challenge.toml")


def _device(key: str, kind: str, ordinal: int | None = None) -> DeviceInfo:
    details = {} if ordinal is None else {"ordinal": ordinal}
    return DeviceInfo(key, "cuda" if kind == "cuda" else "emulator", key, "8.0", details)


def test_devices_are_chosen_by_alias_or_key() -> None:
    found = [_device("emulator", "emulator"), _device("nvidia-h200", "cuda", 0), _device("nvidia-h200", "cuda", 1)]

    def chosen(*wanted: str) -> list[str]:
        return [selector for selector, _ in choose_devices(found, wanted)]

    assert chosen() == ["emulator", "cuda:0", "cuda:1"]
    assert chosen("cuda:1") == ["cuda:1"]
    assert chosen("nvidia-h200", "emulator") == ["emulator", "cuda:0", "cuda:1"]
    with pytest.raises(UsageError, match="cuda:2"):
        chosen("cuda:2")


@pytest.fixture
def _no_slow_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves compilers, jail, emulator, GPUs and packs alone, and judges nothing."""
    monkeypatch.setattr("cli.doctor._toolchain", lambda _settings: Check("fine", True, ""))
    monkeypatch.setattr("cli.doctor._devices", lambda _settings: [])
    monkeypatch.setattr("cli.doctor._packs", lambda _settings: [])
    monkeypatch.setattr("cli.doctor._judging", lambda _settings: Check("judging", True, ""))
    monkeypatch.setattr("judge.sandbox.probe.probes", list)
    monkeypatch.setenv("GPUJUDGE_PORT", "0")


def told_of(cli: Cli, name: str) -> Any:
    """Returns the entry of ``doctor --json`` for one thing."""
    [found] = [check for check in cli("doctor", "--json").json["checks"] if check["name"] == name]
    return found


@pytest.mark.usefixtures("_no_slow_checks")
def test_doctor_tells_an_older_schema_from_a_newer_one(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "will be made" in told_of(cli, "database")["detail"]
    first = cli("db", "upgrade", "--no-packs")
    assert "migrated the database: 0001 (" in first.stderr
    assert "migrated" not in cli("db", "upgrade", "--no-packs").stderr
    assert told_of(cli, "database")["ok"]
    for revision, newest, told, advice in (
        ("0001", "0002", "older than this version", "gpujudge db upgrade"),
        ("9999", "0001", "newer", "backup"),
    ):
        monkeypatch.setattr("store.migrate.head_revision", lambda newest=newest: newest)
        with sqlite3.connect(tmp_path / "data/gpujudge.db") as connection:
            connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        connection.close()
        found = told_of(cli, "database")
        assert not found["ok"]
        assert told in found["detail"]
        assert advice in found["remedy"]
        refused = cli("admin", "log")
        assert refused.exit_code == 1
        assert advice in refused.stderr


@pytest.mark.usefixtures("_no_slow_checks")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "many"), ("OIDC", "{"), ("OIDC", '[{"key": "uni"}]'), ("JAIL", "maybe"), ("DATABASE_URL", "mysql://x"),
        ("SMTP_URL", "smtp://mail.example.org"), ("SIGNUP", "closed"), ("LOG_FORMAT", "xml"), ("TRACES_URL", "here"),
    ],
)  # fmt: skip
def test_doctor_names_settings_that_do_not_parse(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"GPUJUDGE_{name}", value)
    found = told_of(cli, "settings")
    assert not found["ok"]
    assert f"GPUJUDGE_{name}" in found["detail"]
    assert "GPUJUDGE_" in found["detail"].replace(f"GPUJUDGE_{name}", "") + found["remedy"], "what to type is missing"


def test_a_misspelt_setting_ends_every_command_that_reads_settings(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUJUDGE_SIGNUP", "closed")
    for command in (["up"], ["worker", "build"], ["db", "upgrade"], ["user", "list"], ["device", "list"]):
        ended = cli(*command)
        assert ended.exit_code == 2, command
        assert "there is no setting GPUJUDGE_SIGNUP: do you mean GPUJUDGE_SIGN_UP?" in ended.stderr
    monkeypatch.setenv("GPUJUDGE_IGNORE_UNKNOWN", "1")
    assert cli("db", "upgrade", "--no-packs").exit_code == 0


@pytest.mark.parametrize(
    "argv",
    [
        ["workers", "sweeper"],
        ["gunicorn", "-c", "python:web.serving.gunicorn_conf", "--check-config", "web.serving.asgi:x"],
    ],
)
def test_the_processes_themselves_refuse_it_without_a_traceback(argv: list[str], tmp_path: Path) -> None:
    env = {**os.environ, "GPUJUDGE_DATA_DIR": str(tmp_path), "GPUJUDGE_SIGNUP": "closed"}
    ended = subprocess.run(
        [sys.executable, "-m", *argv], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode != 0
    assert "do you mean GPUJUDGE_SIGN_UP?" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.usefixtures("_no_slow_checks")
def test_doctor_tells_of_a_folder_that_it_cannot_write(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told_of(cli, "data folder")["ok"]
    # No file can be made there, by root either.
    monkeypatch.setenv("GPUJUDGE_DATA_DIR", "/proc/self/data")
    found = told_of(cli, "data folder")
    assert not found["ok"]
    assert "cannot be written" in found["detail"]


@pytest.mark.usefixtures("_no_slow_checks")
def test_doctor_tells_of_a_port_that_is_taken(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told_of(cli, "port")["ok"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("GPUJUDGE_PORT", str(taken.getsockname()[1]))
        found = told_of(cli, "port")
    assert (found["ok"], found["warning"]) == (False, True)
    assert "--port" in found["remedy"]


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.usefixtures("_no_slow_checks")
def test_doctor_tells_how_to_install_triton(cli: Cli, installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.languages.triton.language._is_installed", lambda: installed)
    found = told_of(cli, "Triton")
    assert (found["ok"], found["required"]) == (installed, False)
    shown = cli("doctor").stdout
    assert ("none  Triton: Triton is not installed" in shown) is not installed
    assert ("To have it: pip install 'gpujudge[triton]'" in shown) is not installed


@pytest.mark.usefixtures("_no_slow_checks")
def test_doctor_warns_of_a_jail_that_is_off(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUJUDGE_JAIL", "off")
    found = told_of(cli, "jail")
    assert (found["ok"], found["warning"]) == (True, True)
    shown = cli("doctor").stdout
    assert "WARN  jail: switched off by GPUJUDGE_JAIL=off" in shown
    assert "unset GPUJUDGE_JAIL" in shown
