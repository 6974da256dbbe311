from __future__ import annotations

import contextlib
import re
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from store.models import ApiToken, User, WebSession
from store.people import passwords
from tests.web_site import KERNEL, PASSWORD, Site, fixed_clock, make_site, post
from web.app import create_app


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
        ({"username": "1inus", "password": PASSWORD}, "looks like another"),
        ({"username": "adm1n", "password": PASSWORD}, "reserved"),
        ({"username": "ro.ot", "password": PASSWORD}, "reserved"),
        ({"username": "deleted-7", "password": PASSWORD}, "reserved"),
        ({"username": "fine", "password": "password1"}, "very common password"),
        ({"username": "catherine", "password": "catherine1"}, "easy to guess"),
        ({"username": "fine", "password": PASSWORD, "email": "no address"}, "such as"),
        ({"username": "fine", "password": PASSWORD, "email": "a@b\r\nBcc: c@d"}, "such as"),
        ({}, "Choose a user name"),
    ],
)
def test_what_a_sign_up_refuses_it_explains(site: Site, data: dict[str, str], said: str) -> None:
    site.add_user("ada")
    site.add_user("linus")
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
    page = post(
        client,
        "/account/tokens",
        {"name": "laptop", "scopes": "read", "expires": "30"},
        page="/account/",
        follow_redirects=True,
    )
    (token,) = re.findall(r"gpj_[\w-]{40,}", page.text)
    assert "read only" in page.text
    assert page.request.path == "/account/"
    assert token not in client.get("/account/").text
    with site.database() as session:
        row = session.query(ApiToken).one()
        assert token not in (row.token_hash, row.prefix, row.name)
    me = client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    assert me.get_json() == {"username": "ada"}
    assert post(client, f"/account/tokens/{row.id}/revoke", {}, page="/account/").status_code == 302
    assert client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_a_token_that_may_only_read_does_not_submit(site: Site) -> None:
    client = site.visitor()
    body = {"username": "ada", "password": PASSWORD, "scopes": ["read"], "expires_days": 30}
    made = client.post("/api/v1/tokens", json=body).get_json()
    assert made["scopes"] == ["read"]
    headers = {"Authorization": f"Bearer {made['token']}"}
    assert client.get("/api/v1/submissions", headers=headers).status_code == 200
    body = {"challenge": "vector-add", "device": "emulator", "source": KERNEL}
    answer = client.post("/api/v1/submissions", json=body, headers=headers)
    assert (answer.status_code, answer.get_json()["code"]) == (403, "scope")


def test_a_token_ends_at_its_expiry(data_dir: Path) -> None:
    now = [fixed_clock()]
    site = Site(create_app(make_site(data_dir).services.settings, clock=lambda: now[0]))
    client = site.visitor()
    body = {"username": "ada", "password": PASSWORD, "expires_days": 1}
    headers = {"Authorization": f"Bearer {client.post('/api/v1/tokens', json=body).get_json()['token']}"}
    now[0] += timedelta(hours=23)
    assert client.get("/api/v1/me", headers=headers).status_code == 200
    now[0] += timedelta(hours=1)
    assert client.get("/api/v1/me", headers=headers).status_code == 401


def test_tokens_are_limited_in_number(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.people.accounts.MAX_TOKENS", 1)
    client = site.visitor()
    for status in (302, 422):
        form = {"name": "laptop", "scopes": "read", "expires": ""}
        answer = post(client, "/account/tokens", form, page="/account/")
        assert answer.status_code == status
    assert "revoke one first" in answer.text
    assert client.post("/api/v1/tokens", json={"username": "ada", "password": PASSWORD}).status_code == 409


def _copy_of(client: FlaskClient, site: Site) -> FlaskClient:
    copy = site.app.test_client()
    copy.set_cookie("gpujudge", _cookie(client))
    return copy


def test_a_copied_cookie_ends_with_its_session(site: Site) -> None:
    client = site.visitor()
    copy = _copy_of(client, site)
    assert copy.get("/account/").status_code == 200
    post(client, "/account/log-out", {}, page="/account/")
    assert copy.get("/account/").status_code == 302


def test_sessions_are_listed_and_ended_one_by_one(site: Site) -> None:
    here = site.visitor()
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    other = site.app.test_client()
    post(other, "/account/log-in", {"username": "ada", "password": PASSWORD}, headers={"User-Agent": agent})
    page = here.get("/account/").text
    assert "Firefox on Linux" in page
    with site.database() as session:
        number = session.query(WebSession).filter_by(user_agent=agent).one().id
    stranger = site.visitor("eve")
    assert post(stranger, f"/account/sessions/{number}/end", {}, page="/account/").status_code == 404
    assert other.get("/account/").status_code == 200
    assert post(here, f"/account/sessions/{number}/end", {}, page="/account/").status_code == 302
    assert other.get("/account/").status_code == 302
    assert here.get("/account/").status_code == 200


def test_a_session_ends_when_it_is_not_used(data_dir: Path) -> None:
    now = [fixed_clock()]
    site = Site(create_app(make_site(data_dir).services.settings, clock=lambda: now[0]))
    client = site.visitor()
    for days, status in ((13, 200), (13, 200), (14, 302)):
        now[0] += timedelta(days=days)
        assert _copy_of(client, site).get("/account/").status_code == status


def test_a_change_of_password_revokes_tokens_if_asked(site: Site) -> None:
    client = site.visitor()
    headers = {"Authorization": f"Bearer {site.token_of('ada')}"}
    form = {"current": PASSWORD, "new": "another long one", "again": "another long one"}
    post(client, "/account/password", form, page="/account/")
    assert client.get("/api/v1/me", headers=headers).status_code == 200
    form = {"current": "another long one", "new": PASSWORD, "again": PASSWORD, "revoke_tokens": "y"}
    assert "no longer work" in post(client, "/account/password", form, page="/account/", follow_redirects=True).text
    assert client.get("/api/v1/me", headers=headers).status_code == 401


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
    # The API's way in counts with it; reading pages does not, nor do other accounts behind the same address.
    assert client.post("/api/v1/tokens", json=wrong).status_code == 429
    assert client.get("/account/log-in").status_code == 200
    assert site.visitor("grace").get("/account/").status_code == 200


def test_one_address_may_try_only_so_many_accounts(data_dir: Path) -> None:
    site = make_site(data_dir, address_rate="3 per hour")
    client = site.app.test_client()
    tries = ({"username": f"user{number}", "password": "guess number"} for number in range(4))
    assert [post(client, "/account/log-in", one).status_code for one in tries] == [422, 422, 422, 429]


def test_only_so_many_passwords_are_hashed_at_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_user("ada")
    monkeypatch.setattr("store.people.passwords.WAIT_S", 0.0)
    right = {"username": "ada", "password": PASSWORD}
    with contextlib.ExitStack() as others:
        for _ in range(passwords.HASHES_AT_ONCE):
            others.enter_context(passwords._slot())
        answer = post(site.app.test_client(), "/account/log-in", right)
        assert answer.status_code == 503
        assert "Many people" in answer.text
    assert post(site.app.test_client(), "/account/log-in", right).status_code == 302
