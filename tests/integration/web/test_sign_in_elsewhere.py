"""Sign-in by OpenID Connect and GitHub, against an issuer in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from store.models import Identity, User
from store.people.links import Purpose, create_link
from tests.services.oidc_server import CLIENT_ID, CLIENT_SECRET
from tests.web_site import Site, make_site, post


def _site(data_dir: Path, issuer: str, **settings: Any) -> Site:
    school = {"key": "school", "title": "School", "issuer": issuer}
    return make_site(
        data_dir,
        oidc=[{**school, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}],
        github_client_id=CLIENT_ID,
        github_client_secret=CLIENT_SECRET,
        github_url=issuer,
        **settings,
    )


def _return(client: FlaskClient, login: str, key: str = "school", query: str = "") -> str:
    """Makes the browser's request to the site after the issuer has sent it back."""
    sent = client.get(f"/account/sign-in/{key}{query}")
    assert sent.status_code == 302
    back = httpx.get(f"{sent.headers['Location']}&login={login}").headers["Location"]
    assert back.startswith(f"http://localhost/account/sign-in/{key}/back?")
    return back.removeprefix("http://localhost")


def _sign_in(client: FlaskClient, login: str, key: str = "school", query: str = "") -> TestResponse:
    return client.get(_return(client, login, key, query))


@pytest.mark.parametrize("key", ["school", "github"])
def test_a_newcomer_chooses_a_name_and_is_known_the_next_time(data_dir: Path, oidc_issuer: str, key: str) -> None:
    site = _site(data_dir, oidc_issuer)
    client = site.app.test_client()
    assert f"/account/sign-in/{key}" in client.get("/account/log-in").text
    assert _sign_in(client, "grace", key, "?next=/submissions").headers["Location"] == "/account/welcome"
    assert 'value="grace"' in client.get("/account/welcome").text
    assert "2 to 32" in post(client, "/account/welcome", {"username": "g"}).text
    assert post(client, "/account/welcome", {"username": "Grace.H"}).headers["Location"] == "/submissions"
    assert "Grace.H" in client.get("/account/").text
    again = site.app.test_client()
    assert _sign_in(again, "grace", key, "?next=/submissions").headers["Location"] == "/submissions"
    assert "Grace.H" in again.get("/account/").text
    with site.database() as session:
        assert session.query(Identity).count() == session.query(User).count() == 1


def test_the_same_name_elsewhere_opens_no_account_here(data_dir: Path, oidc_issuer: str) -> None:
    site = _site(data_dir, oidc_issuer)
    site.add_user("ada")
    client = site.app.test_client()
    _sign_in(client, "ada")
    assert "taken" in post(client, "/account/welcome", {"username": "ada"}).text
    assert client.get("/account/").status_code == 302


def test_an_account_elsewhere_is_added_and_removed(data_dir: Path, oidc_issuer: str) -> None:
    site = _site(data_dir, oidc_issuer)
    ada, eve = site.visitor("ada"), site.visitor("eve")
    assert _sign_in(ada, "ada.l").headers["Location"] == "/account/"
    assert _sign_in(eve, "ada.l").status_code == 409
    with site.database() as session:
        number = session.query(Identity).one().id
    assert post(eve, f"/account/identities/{number}/remove", {}, page="/account/").status_code == 404
    other = site.app.test_client()
    _sign_in(other, "ada.l")
    assert "ada" in other.get("/account/").text
    assert post(ada, f"/account/identities/{number}/remove", {}, page="/account/").status_code == 302
    assert _sign_in(site.app.test_client(), "ada.l").headers["Location"] == "/account/welcome"


def test_the_only_way_in_is_not_removed(data_dir: Path, oidc_issuer: str) -> None:
    site = _site(data_dir, oidc_issuer)
    client = site.app.test_client()
    _sign_in(client, "grace")
    post(client, "/account/welcome", {"username": "grace"})
    with site.database() as session:
        number = session.query(Identity).one().id
    assert post(client, f"/account/identities/{number}/remove", {}, page="/account/").status_code == 409


def test_what_was_not_asked_for_or_not_confirmed_is_refused(data_dir: Path, oidc_issuer: str) -> None:
    site = _site(data_dir, oidc_issuer)
    client = site.app.test_client()
    back = _return(client, "grace")
    assert site.app.test_client().get(back).status_code == 502, "another browser did not ask"
    assert client.get(back).status_code == 302
    assert client.get(back).status_code == 502, "a code works once"
    assert _sign_in(client, "").status_code == 502, "they said no"
    assert _sign_in(client, "mallory").status_code == 502, "a token for somebody else"
    assert client.get("/account/sign-in/nowhere").status_code == 404


def test_an_issuer_that_is_away_is_named(data_dir: Path) -> None:
    client = _site(data_dir, "http://127.0.0.1:9").app.test_client()
    answer = client.get("/account/sign-in/school")
    assert answer.status_code == 502
    assert "School did not confirm" in answer.text


def test_a_newcomer_needs_an_invitation_where_all_do(data_dir: Path, oidc_issuer: str) -> None:
    site = _site(data_dir, oidc_issuer, sign_up="invitation")
    assert _sign_in(site.app.test_client(), "grace").status_code == 403
    with site.database() as session:
        invite = create_link(session, Purpose.INVITE, now=site.services.clock())
    client = site.app.test_client()
    _sign_in(client, "grace", query=f"?invite={invite}")
    assert post(client, "/account/welcome", {"username": "grace"}).status_code == 302
    assert _sign_in(site.app.test_client(), "eve", query=f"?invite={invite}").status_code == 403
