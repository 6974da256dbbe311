"""The operators' page of notices and settings: what is refused is said at its field, and all that is done is logged."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from store.models import Role
from store.operation.operator_log import list_actions
from store.people.accounts import find_user
from store.people.notices import list_notices
from tests.web_site import Site, post

PAGE = "/admin/site"


@pytest.fixture
def ops(site: Site) -> FlaskClient:
    """An operator's browser."""
    client = site.visitor("ops")
    with site.database() as session:
        user = find_user(session, "ops")
        assert user is not None
        user.role = Role.OPERATOR
    return client


def _actions(site: Site) -> list[tuple[str, str, str, str]]:
    with site.database() as session:
        return [(each.actor, each.address, each.action, each.target) for each in list_actions(session)]


def test_a_notice_is_posted_shown_and_ended(site: Site, ops: FlaskClient) -> None:
    anybody = site.app.test_client()
    sent = post(ops, "/admin/notices", {"text": "No GPUs tonight", "kind": "warning"}, page=PAGE)
    assert (sent.status_code, sent.location) == (303, PAGE)
    shown = '<p class="notice warning">No GPUs tonight</p>'
    assert shown in anybody.get("/").text
    (path,) = re.findall(r"/admin/notices/\d+/end", ops.get(PAGE).text)
    assert post(ops, path, {}, page=PAGE).status_code == 303
    assert shown not in anybody.get("/").text
    assert post(ops, path, {}, page=PAGE).status_code == 404
    number = path.split("/")[3]
    assert _actions(site) == [
        ("ops", "127.0.0.1", "end notice", f"notice {number}"),
        ("ops", "127.0.0.1", "notice", f"notice {number}"),
    ]


def test_times_are_in_utc(site: Site, ops: FlaskClient) -> None:
    times = {"starts_at": "2999-01-01T18:00", "ends_at": "2999-01-01T20:00"}
    assert post(ops, "/admin/notices", {"text": "Soon", "kind": "info", **times}, page=PAGE).status_code == 303
    with site.database() as session:
        (notice,) = list_notices(session)
    assert notice.starts_at.isoformat() == "2999-01-01T18:00:00+00:00"
    assert "planned" in ops.get(PAGE).text
    assert "Soon" not in site.app.test_client().get("/").text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"text": "", "kind": "info"}, "Say something."),
        ({"text": " \n", "kind": "info"}, "A notice needs a text."),
        ({"text": "x" * 501, "kind": "info"}, "500"),
        ({"text": "kept text", "kind": "loud"}, "Not a valid choice"),
        ({"text": "kept text", "kind": "info", "ends_at": "2001-01-01T00:00"}, "A notice ends after it begins"),
        ({"text": "kept text", "kind": "info", "ends_at": "tomorrow"}, "Not a valid datetime"),
    ],
)
def test_a_notice_that_is_refused_stays_in_the_form(
    site: Site, ops: FlaskClient, data: dict[str, str], said: str
) -> None:
    answer = post(ops, "/admin/notices", data, page=PAGE)
    assert answer.status_code == 422
    assert said in answer.text
    assert data["text"].strip() in answer.text
    assert _actions(site) == []


def test_a_setting_is_changed_and_reset(site: Site, ops: FlaskClient) -> None:
    anybody = site.app.test_client()
    assert post(ops, "/admin/settings/sign_up", {"value": "closed"}, page=PAGE).status_code == 303
    assert anybody.get("/account/sign-up").status_code == 403
    assert "/admin/settings/sign_up/reset" in ops.get(PAGE).text
    assert post(ops, "/admin/settings/sign_up/reset", {}, page=PAGE).status_code == 303
    assert anybody.get("/account/sign-up").status_code == 200
    assert "/admin/settings/sign_up/reset" not in ops.get(PAGE).text
    assert [each[2:] for each in _actions(site)] == [("reset", "setting sign_up"), ("set", "setting sign_up")]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("max_waiting", "-1", "greater than or equal to 0"),
        ("max_waiting", "many", "valid integer"),
        ("submission_rate", "often", "Write a rate such as"),
        ("submission_rate", "", "Write a rate such as"),
        ("sign_up", "shut", "&#39;open&#39;, &#39;invitation&#39; or &#39;closed&#39;"),
    ],
)
def test_a_value_that_is_refused_is_said_at_its_field(
    site: Site, ops: FlaskClient, name: str, value: str, said: str
) -> None:
    answer = post(ops, f"/admin/settings/{name}", {"value": value}, page=PAGE)
    assert answer.status_code == 422
    row = answer.text.partition(f'action="/admin/settings/{name}"')[2].partition("</tr>")[0]
    assert said in row
    if name != "sign_up":
        assert f'value="{value}"' in row
    assert _actions(site) == []


def test_the_secret_key_is_no_such_setting(site: Site, ops: FlaskClient) -> None:
    assert post(ops, "/admin/settings/secret_key", {"value": "mine"}, page=PAGE).status_code == 404
    assert _actions(site) == []
