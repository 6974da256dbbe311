"""Operators' changes to the running site hold from the next request on."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from store.operation.changed_settings import change_setting, reset_setting
from store.operation.operator_log import Actor
from store.people.notices import post_notice
from tests.web_site import KERNEL, PASSWORD, Site, make_site, post

PAGE = "/challenges/vector-add"
OPS = Actor("ops")
DATA = {"source": KERNEL, "device": "emulator", "mode": "submit"}


def _change(site: Site, name: str, value: Any) -> None:
    with site.database() as session:
        change_setting(session, OPS, name, value, now=site.services.clock())


def _submit(site: Site) -> tuple[int, str]:
    answer = post(site.visitor(), f"{PAGE}/submissions", DATA, page=PAGE, headers={"Accept": "application/json"})
    return answer.status_code, (answer.get_json() or {}).get("code", "")


@pytest.mark.parametrize("path", ["/", PAGE, "/account/log-in", "/nowhere"])
def test_every_page_shows_the_notices(site: Site, path: str) -> None:
    now = site.services.clock()
    with site.database() as session:
        post_notice(session, OPS, "No GPUs <tonight>", kind="warning", now=now)
        post_notice(session, OPS, "Not yet", now=now, starts_at=now + timedelta(days=1))
    page = site.app.test_client().get(path).text
    assert '<p class="notice warning">No GPUs &lt;tonight&gt;</p>' in page
    assert "Not yet" not in page


def test_without_notices_pages_have_no_room_for_them(site: Site) -> None:
    assert "notice" not in site.app.test_client().get("/").text


def test_sign_up_closes_and_opens_without_a_restart(site: Site) -> None:
    client = site.app.test_client()
    assert "/account/sign-up?" in client.get("/").text
    _change(site, "sign_up", "closed")
    assert "/account/sign-up?" not in client.get("/").text
    assert client.get("/account/sign-up").status_code == 403
    with site.database() as session:
        reset_setting(session, OPS, "sign_up", now=site.services.clock())
    data = {"username": "grace", "password": PASSWORD}
    assert post(client, "/account/sign-up", data).status_code == 302


def test_the_rate_of_submissions_changes(site: Site) -> None:
    _change(site, "submission_rate", "1 per hour")
    assert _submit(site) == (201, "")
    assert _submit(site) == (429, "rate_limited")
    _change(site, "submission_rate", "100 per second")
    assert _submit(site) == (201, "")


def test_how_many_may_wait_changes(site: Site) -> None:
    assert _submit(site) == (201, "")
    _change(site, "max_waiting", 1)
    assert _submit(site) == (429, "too_many_waiting")
    _change(site, "max_waiting", 0)
    assert _submit(site) == (201, "")


def test_an_address_becomes_a_must(site: Site) -> None:
    _change(site, "email", "required")
    assert _submit(site) == (403, "email_unconfirmed")
    answer = post(site.app.test_client(), "/account/sign-up", {"username": "grace", "password": PASSWORD})
    assert answer.status_code == 422
    assert "needs your address" in answer.text


def test_what_another_version_stored_changes_nothing(site: Site) -> None:
    _change(site, "sign_up", "by lot")
    _change(site, "of_tomorrow", 1)
    assert "/account/sign-up?" in site.app.test_client().get("/").text


def test_a_page_of_an_error_needs_no_database(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    site.services.engine.dispose()
    database = site.services.settings.data_dir / "gpujudge.db"
    database.rename(database.with_suffix(".away"))
    database.mkdir()
    answer = site.app.test_client().get("/nowhere")
    assert answer.status_code == 404
    assert "There is nothing here" in answer.text
