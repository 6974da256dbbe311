from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from store.models import ApiToken, User
from tests.web_site import PASSWORD, Site, make_site, post


def test_sign_up_logs_in_and_comes_back_to_where_one_was(site: Site) -> None:
    client = site.app.test_client()
    answer = post(
        client,
        "/account/sign-up",
        {"username": "Grace", "password": PASSWORD, "next": "/challenges/vector-add"},
    )
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/challenges/vector-add"
    assert "Grace" in client.get("/challenges/vector-add").text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"username": "x", "password": PASSWORD}, "2 to 32 letters"),
        ({"username": "has space", "password": PASSWORD}, "2 to 32 letters"),
        ({"username": "ok\x00", "password": PASSWORD}, "2 to 32 letters"),
        ({"username": "fine", "password": "short"}, "at least 8"),
        ({"username": "ADA", "password": PASSWORD}, "taken"),
        ({}, "Choose a user name"),
    ],
)
def test_what_a_sign_up_refuses_it_explains(site: Site, data: dict[str, str], said: str) -> None:
    site.add_user("ada")
    answer = post(site.app.test_client(), "/account/sign-up", data)
    assert answer.status_code == 422
    assert said in answer.text


def test_a_wrong_name_and_a_wrong_password_are_answered_alike(site: Site) -> None:
    site.add_user("ada")
    answers = [
        post(site.app.test_client(), "/account/log-in", {"username": name, "password": "wrong password"})
        for name in ("ada", "nobody")
    ]
    assert [answer.status_code for answer in answers] == [422, 422]
    first, second = (re.sub(r'value="[^"]*"|nonce[^>]*>', "", answer.text) for answer in answers)
    assert first == second


def test_a_log_in_leads_nowhere_else(site: Site) -> None:
    site.add_user("ada")
    answer = post(
        site.app.test_client(),
        "/account/log-in",
        {"username": "ada", "password": PASSWORD, "next": "https://evil.example/"},
    )
    assert answer.headers["Location"] == "/"


def test_pages_of_ones_own_lead_to_the_log_in(site: Site) -> None:
    answer = site.app.test_client().get("/submissions?challenge=gemm")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/account/log-in?next=/submissions?challenge%3Dgemm"


def _cookie(client: FlaskClient) -> str:
    cookie = client.get_cookie("gpujudge")
    assert cookie is not None
    return cookie.value


def test_a_log_in_begins_a_new_session(site: Site) -> None:
    site.add_user("ada")
    client = site.app.test_client()
    client.get("/account/log-in")
    with client.session_transaction() as session:
        session["planted"] = "by somebody else"
        before = session["csrf_token"]
    post(client, "/account/log-in", {"username": "ada", "password": PASSWORD})
    with client.session_transaction() as session:
        assert "planted" not in session
        assert session.get("csrf_token") != before


def test_logging_out_needs_the_pages_token_and_works(site: Site) -> None:
    client = site.visitor()
    assert client.post("/account/log-out").status_code == 400
    assert client.get("/account/").status_code == 200
    assert post(client, "/account/log-out", {}, page="/account/").status_code == 302
    assert client.get("/account/").status_code == 302


def test_a_change_of_password_ends_other_sessions_only(site: Site) -> None:
    here, elsewhere = site.visitor(), site.visitor()
    wrong = {"current": "not it at all", "new": "another long one", "again": "another long one"}
    assert "not your current password" in post(here, "/account/password", wrong, page="/account/").text
    differ = {"current": PASSWORD, "new": "another long one", "again": "another long two"}
    assert "not the same" in post(here, "/account/password", differ, page="/account/").text
    right = {"current": PASSWORD, "new": "another long one", "again": "another long one"}
    assert post(here, "/account/password", right, page="/account/").status_code == 302
    assert here.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302


def test_a_closed_account_is_out_at_once(site: Site) -> None:
    client = site.visitor("ada")
    with site.database() as session:
        session.query(User).one().is_active = False
    assert client.get("/account/").status_code == 302


def test_a_token_is_shown_once_and_kept_hashed(site: Site) -> None:
    client = site.visitor()
    page = post(client, "/account/tokens", {"name": "laptop"}, page="/account/")
    (token,) = re.findall(r"gpj_[\w-]{40,}", page.text)
    assert token not in client.get("/account/").text
    with site.database() as session:
        row = session.query(ApiToken).one()
        assert token not in (row.token_hash, row.prefix, row.name)
    me = client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    assert me.get_json() == {"username": "ada"}
    assert post(client, f"/account/tokens/{row.id}/revoke", {}, page="/account/").status_code == 302
    assert client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_nobody_revokes_anothers_token(site: Site) -> None:
    site.add_user("ada")
    token = site.token_of("ada")
    with site.database() as session:
        number = session.query(ApiToken).one().id
    assert post(site.visitor("eve"), f"/account/tokens/{number}/revoke", {}, page="/account/").status_code == 404
    headers = {"Authorization": f"Bearer {token}"}
    assert site.app.test_client().get("/api/v1/me", headers=headers).status_code == 200


def test_log_ins_are_limited(data_dir: Path) -> None:
    site = make_site(data_dir, log_in_rate="3 per hour")
    client = site.app.test_client()
    wrong = {"username": "ada", "password": "guess number"}
    answers = [post(client, "/account/log-in", wrong) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [422, 422, 422, 429]
    assert "too often" in answers[-1].text.lower()
    assert int(answers[-1].headers["Retry-After"]) > 0
    # The API's way in counts with it; reading pages does not.
    assert client.post("/api/v1/tokens", json=wrong).status_code == 429
    assert client.get("/account/log-in").status_code == 200
