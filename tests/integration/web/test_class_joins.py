"""Joining a class by its link: an account and a membership at once, for a whole class behind one address."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from store.models import Class, ClassMember, User
from store.people.accounts import find_user
from store.people.passwords import HashersBusyError
from store.teaching import classes
from tests.web_server import CHEAP_SERVER, SERVER, running_server
from tests.web_site import Site, csrf_of, make_site, post
from web.rate_limits import limiter

PASSWORD = "correct horse battery"
MEMBERS = 199


def make_class(site: Site) -> str:
    with site.database() as session:
        group = Class(title="Spring", description="", code=classes.new_code(), created_at=site.services.clock())
        session.add(group)
    return group.code


def fields(code: str, name: str, **changes: str) -> dict[str, str]:
    return {"code": code, "known_as": f"Member {name}", "username": name, "password": PASSWORD, **changes}


def counts(site: Site) -> tuple[int | None, int | None]:
    with site.database() as session:
        return session.scalar(select(func.count(User.id))), session.scalar(select(func.count(ClassMember.user_id)))


def join(client: FlaskClient, code: str, **changes: str) -> tuple[int, str, str]:
    answer = post(client, "/classes/join", fields(code, "ada", **changes), page=f"/classes/join?code={code}")
    return answer.status_code, answer.text, answer.headers.get("Retry-After", "")


@pytest.mark.exhaustive(costly=True)
@pytest.mark.parametrize(
    "application",
    [
        # Hashing 199 passwords for real takes half a minute of processor time.
        pytest.param(CHEAP_SERVER, id="cheap hashes", marks=pytest.mark.slow(15)),
        pytest.param(SERVER, id="real hashes", marks=pytest.mark.slow(60)),
    ],
)
def test_a_class_of_199_joins_from_one_address(application: str, data_dir: Path) -> None:
    site = make_site(data_dir)
    code = make_class(site)
    page = f"/classes/join?code={code}"

    def come(number: int) -> int:
        with httpx.Client(base_url=address, timeout=120.0) as client:
            token = csrf_of(client.get(page).text)
            data = {"csrf_token": token, **fields(code, f"member{number}")}
            answer = client.post("/classes/join", data=data)
            while answer.status_code == 503:
                # All processors hash passwords: the page says when to come back, and keeps what was typed.
                assert f"member{number}" in answer.text
                time.sleep(int(answer.headers["Retry-After"]))
                answer = client.post("/classes/join", data=data)
            return answer.status_code

    with (
        running_server(data_dir, application=application, GPUJUDGE_SIGN_UP="invitation") as port,
        ThreadPoolExecutor(32) as crowd,
    ):
        address = f"http://127.0.0.1:{port}"
        answers = list(crowd.map(come, range(MEMBERS)))
    assert answers == [303] * MEMBERS
    assert counts(site) == (MEMBERS, MEMBERS)


def test_the_link_makes_an_account_in_invitation_mode_and_none_where_sign_up_is_closed(tmp_path: Path) -> None:
    site = make_site(tmp_path / "invitation", sign_up="invitation")
    client = site.app.test_client()
    status, _, _ = join(client, make_class(site))
    assert status == 303
    assert "You are in the class" in client.get("/classes/1").text
    assert site.app.test_client().get("/account/sign-up").status_code == 403
    closed = make_site(tmp_path / "closed", sign_up="closed")
    code = make_class(closed)
    assert "/account/log-in" in str(closed.app.test_client().get(f"/classes/join?code={code}").location)
    answer = post(closed.app.test_client(), "/classes/join", fields(code, "ada"), page="/account/log-in")
    assert "/account/log-in" in str(answer.location)
    assert counts(closed) == (0, 0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"code": "nothing"}, "No class has this code"),
        ({"username": "Eve"}, "is taken"),
        ({"password": "password"}, "Take several words"),
        ({"known_as": ""}, "Say who you are"),
        ({"email": "nowhere"}, "Enter an address"),
    ],
)
def test_who_is_not_let_in_has_no_account(site: Site, changes: dict[str, str], said: str) -> None:
    code = make_class(site)
    site.add_user("eve")
    page = f"/classes/join?code={code}"
    answer = post(site.app.test_client(), "/classes/join", fields(code, "ada") | changes, page=page)
    assert (answer.status_code, counts(site)) == (422, (1, 0))
    assert said in answer.text


def test_a_membership_that_fails_leaves_no_account(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    code = make_class(site)
    monkeypatch.setattr(classes, "join", fail)
    assert join(site.app.test_client(), code)[0] == 500
    assert counts(site) == (0, 0)


def test_too_many_keep_what_they_typed_and_learn_how_long_to_wait(tmp_path: Path) -> None:
    site = make_site(tmp_path, class_rate="1 per minute")
    first, second = make_class(site), make_class(site)
    limiter.reset()
    assert join(site.app.test_client(), first)[0] == 303
    status, text, seconds = join(site.app.test_client(), first, username="bob")
    assert status == 429
    assert 0 < int(seconds) <= 61
    assert f"press Join again in {seconds} s" in text
    for typed in ("bob", "Member ada", PASSWORD):
        assert f'value="{typed}"' in text
    assert join(site.app.test_client(), second, username="carl")[0] == 303  # another class's link
    limiter.reset()


def test_a_crowd_of_passwords_keeps_the_form_too(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> str:
        raise HashersBusyError

    monkeypatch.setattr("web.classes.views.hash_password", busy)
    status, text, seconds = join(site.app.test_client(), make_class(site))
    assert (status, seconds) == (503, "5")
    assert 'value="Member ada"' in text
    assert counts(site) == (0, 0)


def test_joins_count_neither_as_log_ins_nor_for_the_address(tmp_path: Path) -> None:
    site = make_site(tmp_path, address_rate="1 per hour", log_in_rate="1 per hour")
    code = make_class(site)
    limiter.reset()
    for name in ("ada", "bob", "carl"):
        assert join(site.app.test_client(), code, username=name)[0] == 303
    # Codes of no class do: they may be guesses.
    client = site.app.test_client()
    page = f"/classes/join?code={code}"
    tried = [post(client, "/classes/join", fields("guess", "eve"), page=page).status_code for _ in range(2)]
    assert tried == [422, 429]
    with site.database() as session:
        assert find_user(session, "eve") is None
    limiter.reset()
