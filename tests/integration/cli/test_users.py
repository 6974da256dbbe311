"""The commands of operators, on a real database and with the links that they print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.app import app
from tests.web_site import PASSWORD, make_site, post

NEW = {"new": "another long one", "again": "another long one"}


def _path(text: str) -> str:
    (path,) = re.findall(r"https://judge\.example(/\S+)", text)
    return str(path)


@pytest.fixture
def run(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("GPUJUDGE_DATA_DIR", str(data_dir))
    monkeypatch.setenv("GPUJUDGE_PUBLIC_URL", "https://judge.example")
    return CliRunner()


def test_an_operators_link_resets_a_password(run: CliRunner, data_dir: Path) -> None:
    site = make_site(data_dir)
    site.add_user("ada")
    link = _path(run.invoke(app, ["user", "reset", "ADA"]).stdout)
    client = site.app.test_client()
    assert post(client, link, NEW).status_code == 302
    assert client.get(link).status_code == 404
    assert post(client, "/account/log-in", {"username": "ada", "password": NEW["new"]}).status_code == 302


def test_nobodys_password_is_not_reset(run: CliRunner, data_dir: Path) -> None:
    make_site(data_dir)
    ended = run.invoke(app, ["user", "reset", "nobody"])
    assert "there is no user nobody" in str(ended.exception)


def test_invitations_are_printed_and_used(run: CliRunner, data_dir: Path) -> None:
    site = make_site(data_dir, sign_up="invitation")
    links = json.loads(run.invoke(app, ["user", "invite", "-n", "3", "--json"]).stdout)["links"]
    assert len(set(links)) == 3
    page = _path(links[0])
    form = {"username": "grace", "password": PASSWORD, "invite": page.partition("=")[2]}
    assert post(site.app.test_client(), "/account/sign-up", form, page=page).status_code == 302


def test_an_operator_is_made_and_lets_people_in_and_keeps_them_out(run: CliRunner, data_dir: Path) -> None:
    site = make_site(data_dir)
    site.add_user("ada")
    site.add_user("mallory")

    def log_in(name: str) -> int:
        form = {"username": name, "password": PASSWORD}
        return post(site.app.test_client(), "/account/log-in", form).status_code

    def user(*arguments: str) -> str:
        ended = run.invoke(app, ["user", *arguments])
        return str(ended.exception) if ended.exit_code else ended.stdout + ended.stderr

    assert "ada is an operator now" in user("role", "ada", "operator")
    assert "only operator" in user("role", "ada", "user")
    assert "mallory is suspended" in user("suspend", "mallory", "--reason", "spam")
    assert log_in("mallory") == 422
    assert "the account of mallory is suspended" in user("reset", "mallory")
    listed = json.loads(user("list", "--json"))["users"]
    assert [(one["username"], one["role"], one["state"]) for one in listed] == [
        ("mallory", "user", "suspended"),
        ("ada", "operator", "active"),
    ]
    user("restore", "mallory")
    assert log_in("mallory") == 302
    assert user("list", "MALL").splitlines()[1].split("\t")[:3] == ["mallory", "user", "active"]


@pytest.mark.parametrize("command", [("user",), ("admin", "user")])
def test_two_accounts_are_merged_by_who_is_sure(run: CliRunner, data_dir: Path, command: tuple[str, ...]) -> None:
    site = make_site(data_dir)
    for name in ("ada", "lovelace"):
        site.add_user(name)
    ended = run.invoke(app, [*command, "merge", "lovelace", "ada"])
    assert "no terminal to ask on" in str(ended.exception)
    assert "there is no user bo" in str(run.invoke(app, [*command, "merge", "ada", "bo", "--yes"]).exception)
    assert "into itself" in str(run.invoke(app, [*command, "merge", "ada", "ada", "--yes"]).exception)
    assert run.invoke(app, [*command, "merge", "lovelace", "ada", "--yes"]).exit_code == 0
    assert "there is no user lovelace" in str(run.invoke(app, ["user", "reset", "lovelace"]).exception)
