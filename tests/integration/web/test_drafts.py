"""Drafts over HTTP: whose they are, conflicts, and what is refused."""

from __future__ import annotations

from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.web_site import Site, csrf_of, post

PAGE = "/challenges/vector-add"
DRAFT = f"{PAGE}/draft"
JSON = {"Accept": "application/json"}


def _save(client: FlaskClient, source: str, base: int, **more: Any) -> TestResponse:
    headers = {**JSON, "X-CSRFToken": csrf_of(client.get(PAGE).text)}
    return client.put(DRAFT, json={"source": source, "base": base, **more}, headers=headers)


def test_the_editor_holds_the_draft_of_its_user_and_of_nobody_else(site: Site) -> None:
    ada = site.visitor("ada")
    assert ada.get(DRAFT, headers=JSON).get_json() == {"version": 0, "saved_at": None, "source": ""}
    assert _save(ada, "// of ada\n", 0).get_json()["version"] == 1
    assert "// of ada" in ada.get(PAGE).text
    assert ada.get(DRAFT, headers=JSON).get_json()["source"] == "// of ada\n"
    eve = site.visitor("eve")
    assert "// of ada" not in eve.get(PAGE).text
    assert eve.get(DRAFT, headers=JSON).get_json()["version"] == 0
    assert eve.get(f"{PAGE}/drafts/1", headers=JSON).status_code == 404
    assert site.app.test_client().get(DRAFT, headers=JSON).status_code == 401


def test_a_save_on_an_old_version_gets_the_newer_draft(site: Site) -> None:
    ada = site.visitor()
    _save(ada, "one", 0)
    _save(ada, "two", 1, new_spell=True)
    refused = _save(ada, "three", 1)
    assert refused.status_code == 409
    assert (refused.get_json()["version"], refused.get_json()["source"]) == (2, "two")
    assert [each["version"] for each in ada.get(f"{PAGE}/drafts", headers=JSON).get_json()] == [2, 1]
    assert ada.get(f"{PAGE}/drafts/1", headers=JSON).get_json()["source"] == "one"


def test_what_cannot_be_saved_is_told(site: Site) -> None:
    ada = site.visitor()
    assert _save(ada, "x" * (256 * 1024 + 1), 0).status_code == 413
    assert _save(ada, "x", -1).status_code == 422
    assert _save(ada, "x", 0, colour="red").status_code == 422
    assert ada.put(DRAFT, json={"source": "x", "base": 0}, headers=JSON).status_code == 400  # no CSRF token
    headers = {**JSON, "X-CSRFToken": csrf_of(ada.get(PAGE).text)}
    assert ada.put("/challenges/nonesuch/draft", json={}, headers=headers).status_code == 404
    assert ada.get(DRAFT, headers=JSON).get_json()["version"] == 0


def test_a_submission_of_ones_own_is_edited_again(site: Site) -> None:
    ada = site.visitor("ada")
    data = {"source": "// sent by ada\n", "device": "emulator", "mode": "submit"}
    public_id = post(ada, f"{PAGE}/submissions", data, page=PAGE, headers=JSON).get_json()["id"]
    assert f'href="{PAGE}?from={public_id}"' in ada.get(f"/submissions/{public_id}").text
    assert "// sent by ada" in ada.get(f"{PAGE}?from={public_id}").text
    for other in (site.visitor("eve"), site.app.test_client()):
        assert "// sent by ada" not in other.get(f"{PAGE}?from={public_id}").text


def test_the_terminal_and_the_editor_write_the_same_draft(site: Site) -> None:
    ada = site.visitor("ada")
    headers = {"Authorization": f"Bearer {site.token_of('ada')}"}
    path = f"/api/v1{DRAFT}"
    assert ada.get(path, headers=headers).get_json() == {
        "challenge": "vector-add", "language": None, "version": 0, "saved_at": None, "source": "",
    }  # fmt: skip
    _save(ada, "// of the editor\n", 0)
    assert ada.get(path, headers=headers).get_json()["source"] == "// of the editor\n"
    saved = ada.put(path, json={"source": "// of the terminal\n", "base": 1}, headers=headers)
    assert (saved.status_code, saved.get_json()["version"]) == (200, 2)
    # What was pushed stays a version of its own, and a window that is still open is told of it.
    assert [each["version"] for each in ada.get(f"{DRAFT}s", headers=JSON).get_json()] == [2, 1]
    assert _save(ada, "// more of the editor\n", 1).status_code == 409
    late = ada.put(path, json={"source": "// late\n", "base": 1}, headers=headers)
    assert (late.status_code, late.get_json()["code"]) == (409, "conflict")
    long = ada.put(path, json={"source": "x" * (300 << 10), "base": 2}, headers=headers)
    assert (long.status_code, long.get_json()["code"]) == (413, "too_large")
