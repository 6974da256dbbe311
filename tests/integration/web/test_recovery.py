"""E-mail addresses, resets of passwords and invitations."""

from __future__ import annotations

import email
import email.policy
import re
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from store.people.accounts import find_user
from store.people.links import Purpose, create_link
from tests.web_site import KERNEL, PASSWORD, Site, fixed_clock, make_site, post
from web.app import create_app

NEW = {"new": "another long one", "again": "another long one"}


def _mails(site: Site) -> list[str]:
    """The mails so far, headers and text, the oldest first."""
    site.services.background.wait()
    folder = site.services.settings.data_dir / "mails"
    files = sorted(folder.glob("*.eml"))
    read = [email.message_from_bytes(path.read_bytes(), policy=email.policy.default) for path in files]
    return [f"To: {mail['To']}\nSubject: {mail['Subject']}\n\n{mail.get_content()}" for mail in read]


def _link(mail: str) -> str:
    (path,) = re.findall(r"http://localhost(/account/\S+)", mail)
    return str(path)


def _with_email(site: Site, username: str = "ada", address: str = "ada@example.org") -> FlaskClient:
    client = site.visitor(username)
    form = {"email": address, "email_password": PASSWORD}
    assert post(client, "/account/email", form, page="/account/").status_code == 302
    assert post(client, _link(_mails(site)[-1]), {}).status_code == 302
    return client


def _ask(site: Site, who: str) -> tuple[int, str]:
    answer = post(site.app.test_client(), "/account/forgot", {"username": who})
    return answer.status_code, re.sub(r'content="[^"]*"|value="[^"]*"|nonce[^>]*>', "", answer.text)


def test_an_address_counts_once_its_link_was_followed(site: Site) -> None:
    client = site.visitor()
    form = {"email": "Ada@example.org", "email_password": "not it at all"}
    assert "not your password" in post(client, "/account/email", form, page="/account/").text
    assert post(client, "/account/email", {**form, "email_password": PASSWORD}, page="/account/").status_code == 302
    assert "no confirmed address" in client.get("/account/").text
    assert _ask(site, "ada")[0] == 200
    (mail,) = _mails(site)
    assert mail.startswith("To: Ada@example.org\nSubject: Confirm")
    link = _link(mail)
    # Opening the link uses nothing up; anybody's browser may confirm it.
    reader = site.app.test_client()
    assert reader.get(link).status_code == reader.get(link).status_code == 200
    assert post(reader, link, {}).status_code == 302
    assert "<b>Ada@example.org</b>, confirmed" in client.get("/account/").text
    assert reader.get(link).status_code == 404


def test_an_address_belongs_to_one_account_and_its_owner_is_told_when_it_changes(site: Site) -> None:
    ada = _with_email(site)
    eve = site.visitor("eve")
    post(eve, "/account/email", {"email": "ADA@example.org", "email_password": PASSWORD}, page="/account/")
    assert post(eve, _link(_mails(site)[-1]), {}).status_code == 409
    post(ada, "/account/email", {"email": "new@example.org", "email_password": PASSWORD}, page="/account/")
    post(ada, _link(_mails(site)[-1]), {})
    assert _mails(site)[-1].startswith("To: ada@example.org\nSubject: Your address")
    post(ada, "/account/email", {"email": "", "email_password": PASSWORD}, page="/account/")
    assert "no confirmed address" in ada.get("/account/").text


def test_a_reset_by_mail(site: Site) -> None:
    elsewhere = _with_email(site)
    headers = {"Authorization": f"Bearer {site.token_of('ada')}"}
    assert _ask(site, "ada@EXAMPLE.org")[0] == 200
    first = _link(_mails(site)[-1])
    assert _ask(site, "ada")[0] == 200
    link = _link(_mails(site)[-1])
    client = site.app.test_client()
    assert client.get(first).status_code == 404, "a newer link ends older ones"
    assert client.get(link).status_code == client.get(link).status_code == 200
    assert "not the same" in post(client, link, {**NEW, "again": "different one"}).text
    assert "common" in post(client, link, {"new": "password1", "again": "password1"}).text
    assert post(client, link, {**NEW, "revoke_tokens": "y"}).status_code == 302
    assert client.get(link).status_code == 404
    assert elsewhere.get("/account/").status_code == 302
    assert client.get("/api/v1/me", headers=headers).status_code == 401
    assert post(client, "/account/log-in", {"username": "ada", "password": NEW["new"]}).status_code == 302


def test_an_unknown_account_gets_the_same_answer_and_no_mail(site: Site) -> None:
    _with_email(site)
    site.add_user("bob")
    before = len(_mails(site))
    assert _ask(site, "ada") == _ask(site, "bob") == _ask(site, "nobody") == _ask(site, "x@example.org")
    assert len(_mails(site)) == before + 1


def test_the_answer_waits_for_no_account_and_no_mail_server(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(site.services.background, "do", lambda name, _work: done.append(name))
    assert _ask(site, "ada") == _ask(site, "nobody")
    assert done == ["reset mail"] * 2


def test_a_reset_link_lasts_half_an_hour(data_dir: Path) -> None:
    now = [fixed_clock()]
    site = Site(create_app(make_site(data_dir).services.settings, clock=lambda: now[0]))
    site.add_user("ada")
    with site.database() as session:
        user = find_user(session, "ada")
        assert user is not None
        text = create_link(session, Purpose.RESET, user_id=user.id, now=now[0])
    client = site.app.test_client()
    now[0] += timedelta(minutes=29, seconds=59)
    assert client.get(f"/account/reset/{text}").status_code == 200
    now[0] += timedelta(seconds=1)
    assert client.get(f"/account/reset/{text}").status_code == 404
    assert client.get(f"/account/confirm/{text}").status_code == 404


def test_mails_to_one_person_are_limited_known_or_not(data_dir: Path) -> None:
    site = make_site(data_dir, mail_rate="2 per hour")
    site.add_user("ada")
    for who in ("ada", "nobody"):
        assert [_ask(site, who)[0] for _ in range(3)] == [200, 200, 429]


def test_the_folder_of_mails_is_named_to_who_sits_at_the_machine(site: Site) -> None:
    assert "/mails" in site.app.test_client().get("/account/forgot").text
    stranger = {"REMOTE_ADDR": "203.0.113.9"}
    assert "/mails" not in site.app.test_client().get("/account/forgot", environ_overrides=stranger).text


def test_a_site_that_needs_addresses_asks_and_waits_for_them(data_dir: Path) -> None:
    site = make_site(data_dir, email="required")
    site.add_device()
    client = site.app.test_client()
    form = {"username": "grace", "password": PASSWORD}
    assert "needs your address" in post(client, "/account/sign-up", form).text
    assert post(client, "/account/sign-up", {**form, "email": "grace@example.org"}).status_code == 302
    headers = {"Authorization": f"Bearer {site.token_of('grace')}"}
    body = {"challenge": "vector-add", "device": "emulator", "source": KERNEL}
    answer = client.post("/api/v1/submissions", json=body, headers=headers)
    assert (answer.status_code, answer.get_json()["code"]) == (403, "email_unconfirmed")
    assert post(client, _link(_mails(site)[-1]), {}).status_code == 302
    assert client.post("/api/v1/submissions", json=body, headers=headers).status_code == 201


def test_an_invitation_makes_one_account(data_dir: Path) -> None:
    site = make_site(data_dir, sign_up="invitation")
    client = site.app.test_client()
    assert client.get("/account/sign-up").status_code == 403
    with site.database() as session:
        invite = create_link(session, Purpose.INVITE, now=site.services.clock())
    page = f"/account/sign-up?invite={invite}"
    form = {"username": "grace", "password": PASSWORD, "invite": invite}
    # A refused form does not use it up.
    assert post(client, "/account/sign-up", {**form, "password": "short"}, page=page).status_code == 422
    assert post(client, "/account/sign-up", form, page=page).status_code == 302
    assert "was used" in site.app.test_client().get(page).text


def test_a_closed_site_takes_nobody(data_dir: Path) -> None:
    client = make_site(data_dir, sign_up="closed").app.test_client()
    assert client.get("/account/sign-up").status_code == 403
    assert "/account/sign-up" not in client.get("/leaderboards").text
