"""Operators' commands in a folder that holds no server: they say so, and leave nothing behind.

A command that is not in the table fails the test.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from cli.app import app
from cli.errors import CliError

#: How each command that needs the server's database is called.
NEED_A_DATABASE = """
admin challenge rejudge vector-add new
admin device calibrations cuda:0
admin device hold emulator broken
admin device list
admin device release emulator
admin log
admin lti add School --issuer http://s --client-id 1 --deployment 1 --key-set-url http://s --auth-login-url http://s --auth-token-url http://s
admin lti list
admin lti remove 1
admin notice end 1
admin notice list
admin notice post hello
admin queue
admin setting list
admin setting reset sign_up
admin setting set sign_up closed
admin submission cancel aaaaaaaaaaaa
admin submission list
admin submission off-board aaaaaaaaaaaa copied
admin submission on-board aaaaaaaaaaaa
admin submission rejudge aaaaaaaaaaaa wrong
admin user invite
admin user list
admin user merge ada bob --yes
admin user reset ada
admin user restore ada
admin user role ada operator
admin user suspend ada --reason spam
audit vector-add --device cuda:0
backup one.backup
user invite
user list
user merge ada bob --yes
user reset ada
user restore ada
user role ada operator
user suspend ada --reason spam
worker build
worker device --device emulator
worker sweeper
"""  # noqa: E501
#: Those that make a database, of whatever kind, and those that use none.
OTHERS = """
up, db upgrade, restore
login, logout, whoami, challenges, track, show, init, pull, push, submit, run, watch, cancel, source, open, submissions
leaderboard, solutions, judge, batch submit, batch status, compare, emulate, asm, profile, export, gradescope, doctor
config check, config show
class list, class show, class members, class assignments, class grades, class join, class create, class copy
class roster, class assignment create, class assignment edit, class assignment delete, class assignment extend
class edit, class delete, class new-code, class leave, class remove, class staff list, class staff set
class platform show, class platform exchange, class platform disconnect
class staff remove, class matrix, class attempts, class similar, class pack list, class pack report, class pack upload
class pack delete, contest pack list, contest pack report, contest pack upload, contest pack delete
contest trial start, contest trial show
comment list, comment add, comment edit, comment delete, contest submissions
contest list, contest show, contest standings, contest create, contest copy, contest edit, contest delete
contest register, contest leave
device list, device calibrate, admin challenge list
pack list, pack new, pack add, pack verify, pack mutants, pack slack, pack shortcuts
"""
CALLS = [line.split() for line in NEED_A_DATABASE.strip().splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("GPUJUDGE_")]:
        monkeypatch.delenv(name)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return elsewhere


def refusal(*argv: str) -> CliError:
    ended = CliRunner().invoke(app, argv)
    assert isinstance(ended.exception, CliError), (ended.exception, ended.output)
    assert ended.exception.exit_code != 0
    return ended.exception


def leaves(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "list_commands"):
            yield from leaves(command, (*path, name))
        else:
            yield " ".join((*path, name))


def test_every_command_is_in_a_table() -> None:
    known = {name.strip() for name in OTHERS.replace("\n", ",").split(",") if name.strip()}
    commands = set(leaves(get_command(app)))
    called = {
        next(" ".join(call[:words]) for words in (3, 2, 1) if " ".join(call[:words]) in commands) for call in CALLS
    }
    assert known | called == commands, "say in the table whether the command needs a database"


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_command_without_a_database_names_the_folder_and_makes_nothing(folder: Path, call: list[str]) -> None:
    refused = refusal(*call)
    assert f"there is no database in {folder / 'data'}" in refused.message
    assert "GPUJUDGE_DATA_DIR=" in refused.hint
    assert "gpujudge up" in refused.hint
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("call", [["user", "list"], ["backup", "one.backup"]], ids=" ".join)
def test_a_database_without_gpujudges_tables_is_refused(folder: Path, call: list[str]) -> None:
    (folder / "data").mkdir()
    with closing(sqlite3.connect(folder / "data/gpujudge.db")) as other:
        other.execute("CREATE TABLE birds (name TEXT)")
    refused = refusal(*call)
    assert "has no tables of gpujudge" in refused.message
    assert "GPUJUDGE_DATA_DIR" in refused.hint
    assert not list(folder.glob("*backup*"))


def test_a_database_that_is_named_and_not_there_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUJUDGE_DATABASE_URL", f"sqlite:///{folder}/other.db")
    refused = refusal("user", "list")
    assert f"there is no file {folder}/other.db" in refused.message
    assert "GPUJUDGE_DATABASE_URL" in refused.hint
    assert list(folder.iterdir()) == []


def test_doctor_and_a_restoration_that_fails_make_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cannot read" in refusal("restore", "misspelt").message
    (folder / "text").write_text("no backup")
    assert "is not a backup" in refusal("restore", "text").message
    for name in ("_toolchain", "_jail", "_devices", "_packs"):
        monkeypatch.setattr(f"cli.doctor.{name}", lambda *_given: [])
    CliRunner().invoke(app, ["doctor"])
    assert [path.name for path in folder.iterdir()] == ["text"]


def test_upgrade_makes_it_and_then_all_is_well(folder: Path) -> None:
    assert CliRunner().invoke(app, ["db", "upgrade", "--no-packs"]).exit_code == 0
    assert CliRunner().invoke(app, ["user", "list"]).exit_code == 0
    assert CliRunner().invoke(app, ["backup", "one.backup"]).exit_code == 0
    assert (folder / "one.backup").stat().st_size > 0
