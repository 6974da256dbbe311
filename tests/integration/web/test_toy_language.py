"""A language that the site does not know is one file and its registration: everything else asks that file."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import select

from cli.source import language_of
from judge.languages.registry import BUILTIN_LANGUAGES
from store.models import Draft, User
from tests.integration.web.test_api import Caller
from tests.toy.language import ToyLanguage
from tests.web_site import Site, accepted, on_emulator

PAGE = "/challenges/vector-add"


@pytest.fixture
def caller(site: Site) -> Caller:
    return Caller(site)


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> ToyLanguage:
    language = ToyLanguage()
    makers: dict[str, Any] = {**BUILTIN_LANGUAGES._makers, language.name: lambda: language}
    monkeypatch.setattr(BUILTIN_LANGUAGES, "_makers", MappingProxyType(makers))
    return language


def test_the_api_offers_it_with_its_starter_and_its_ending(caller: Caller, toy: ToyLanguage) -> None:
    offered = caller.get("challenges/vector-add").get_json()["languages"]
    assert {**offered[-1]} == {
        "name": toy.name, "title": toy.title, "suffix": ".toy", "comment": ";;", "missing": "",
        "starter": ";; the starter of vector-add\n",
    }  # fmt: skip
    assert offered[0]["name"] == "cuda"
    assert caller.get(f"challenges/vector-add/starter?language={quote(toy.name)}").text == offered[-1]["starter"]
    assert caller.get("challenges/vector-add/starter?language=cobol").status_code == 422


@pytest.mark.parametrize("chosen", [{"language": "toy-c++"}, {}])
def test_a_submission_chooses_it_by_name_or_by_the_ending(site: Site, caller: Caller, chosen: dict[str, str]) -> None:
    body = {"challenge": "vector-add", "device": "emulator", "mode": "submit", **chosen}
    sent = {"source": "solve"} if chosen else {"files": [{"name": "add.toy", "text": "solve"}]}
    status = caller.post("submissions", {**body, **sent}).get_json()
    assert status["language"] == "toy-c++"
    assert site.submission(status["id"]).language == "toy-c++"
    refused = caller.post("submissions", {**body, **sent, "language": "cobol"})
    assert (refused.status_code, refused.get_json()["code"]) == (422, "unknown_language")
    assert "toy-c++" in refused.get_json()["nearest"]


def test_the_editor_offers_it_and_keeps_a_draft_in_it(site: Site, toy: ToyLanguage) -> None:
    client = site.visitor("ada")
    page = client.get(PAGE).text
    assert f'<option value="{toy.name}">{toy.title}</option>' in page
    assert f'<a href="{toy.docs_url}" rel="noopener noreferrer">{toy.title}</a>' in page
    assert 'data-language="toy-c++" data-file="kernel.cpp" data-grammar="toy"' in page
    assert ".toy" in page.split('accept="')[1].split('"')[0].split(",")
    download = client.get(f"{PAGE}/starter?language={quote(toy.name)}")
    assert download.headers["Content-Disposition"] == 'attachment; filename="vector-add.toy"'
    with site.database() as session:
        user = session.scalars(select(User)).one()
        for version, language in ((1, "cuda"), (2, toy.name)):
            session.add(
                Draft(
                    user_id=user.id,
                    challenge="vector-add",
                    version=version,
                    language=language,
                    source_bytes=language.encode(),
                    begun_at=site.services.clock(),
                    saved_at=site.services.clock(),
                )
            )
    assert client.get(f"{PAGE}/draft?language=cuda").get_json()["source"] == "cuda"
    assert client.get(f"{PAGE}/draft").get_json()["source"] == toy.name
    assert f'<option value="{toy.name}" selected>' in client.get(PAGE).text


def test_boards_tell_languages_apart(site: Site, caller: Caller, toy: ToyLanguage) -> None:
    body = {"challenge": "vector-add", "device": "emulator", "mode": "submit", "source": "solve"}
    for username, language, time in (("ada", "cuda", 20), ("bob", toy.name, 10)):
        sender = caller if username == "ada" else Caller(site, username)
        assert sender.post("submissions", {**body, "language": language}).status_code == 201
        site.work(cases=accepted("a"), measurement=on_emulator(time))
    board = caller.get("leaderboards/vector-add?device=emulator").get_json()["entries"]
    assert [(entry["rank"], entry["language"]) for entry in board] == [(1, toy.name), (2, "cuda")]
    alone = caller.get("leaderboards/vector-add?device=emulator&language=cuda").get_json()["entries"]
    assert [(entry["rank"], entry["username"]) for entry in alone] == [(2, "ada")]
    page = site.app.test_client().get("/leaderboards/vector-add?device=emulator").text
    assert f'<span class="tag language">{toy.title}</span>' in page
    assert "language=cuda" in page
    shown = site.app.test_client().get("/leaderboards/vector-add?device=emulator&language=cuda").text
    assert ">bob<" not in shown


def test_the_command_line_knows_its_ending(tmp_path: Any) -> None:
    assert language_of(tmp_path / "add.toy", None) == "toy-c++"
    assert language_of(tmp_path / "add.cu", None) == "cuda"
    assert language_of(tmp_path / "add.txt", None) is None
