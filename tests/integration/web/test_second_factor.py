"""The second factor: turned on, asked for at a log-in, and off again."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pyotp
import pytest
from flask.testing import FlaskClient

from tests.web_site import PASSWORD, Site, fixed_clock, make_site, post
from web.app import create_app

CREDENTIALS = {"username": "ada", "password": PASSWORD}


class Factor:
    """A site with a clock of its own, and an app that has the key."""

    def __init__(self, data_dir: Path) -> None:
        self.now = fixed_clock()
        settings = make_site(data_dir, log_in_rate="20 per hour").services.settings
        self.site = Site(create_app(settings, clock=lambda: self.now))
        self.client = self.site.visitor()
        page = self.client.get("/account/second-factor").text
        assert "<svg" in page
        self.secret = re.findall(r'<code class="token">(\w+)</code>', page)[0]

    def code(self) -> str:
        return str(pyotp.TOTP(self.secret).at(self.now))

    def turn_on(self) -> list[str]:
        path = "/account/second-factor"
        assert "wrong" in post(self.client, path, {"code": "000000"}).text
        page = post(self.client, path, {"code": self.code()}, follow_redirects=True).text
        codes = re.findall(r"\b[0-9a-f]{8}-[0-9a-f]{8}\b", page)
        assert codes[0] not in self.client.get(path, follow_redirects=True).text
        return codes

    def log_in(self) -> FlaskClient:
        client = self.site.app.test_client()
        answer = post(client, "/account/log-in", {**CREDENTIALS, "next": "/submissions"})
        assert answer.headers["Location"] == "/account/log-in/code?next=/submissions"
        assert client.get("/account/").status_code == 302, "a password alone does not log in"
        return client


@pytest.fixture
def factor(data_dir: Path) -> Factor:
    return Factor(data_dir)


def test_a_log_in_asks_for_a_code_which_works_once(factor: Factor) -> None:
    factor.turn_on()
    client = factor.log_in()
    assert post(client, "/account/log-in/code", {"code": factor.code()}).status_code == 422, "it turned the factor on"
    factor.now += timedelta(seconds=30)
    answer = post(client, "/account/log-in/code", {"code": factor.code(), "next": "/submissions"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/submissions")
    assert client.get("/account/").status_code == 200
    other = factor.log_in()
    assert post(other, "/account/log-in/code", {"code": factor.code()}).status_code == 422


def test_a_recovery_code_works_once(factor: Factor) -> None:
    codes = factor.turn_on()
    assert len(set(codes)) == 10
    for status in (302, 422):
        assert post(factor.log_in(), "/account/log-in/code", {"code": codes[3].upper()}).status_code == status


def test_the_second_step_must_follow_soon(factor: Factor) -> None:
    factor.turn_on()
    client = factor.log_in()
    factor.now += timedelta(minutes=11)
    assert client.get("/account/log-in/code").status_code == 302


def test_codes_cannot_be_tried_out(factor: Factor) -> None:
    factor.turn_on()
    client = factor.log_in()
    tries = [post(client, "/account/log-in/code", {"code": f"{number:06}"}).status_code for number in range(21)]
    assert tries[:20] == [422] * 20
    assert tries[20] == 429


def test_the_api_asks_for_the_code_too(factor: Factor) -> None:
    factor.turn_on()
    factor.now += timedelta(seconds=30)
    client = factor.site.app.test_client()
    refused = client.post("/api/v1/tokens", json=CREDENTIALS)
    assert (refused.status_code, refused.get_json()["code"]) == (401, "second_factor")
    assert client.post("/api/v1/tokens", json={**CREDENTIALS, "code": factor.code()}).status_code == 201


def test_turning_it_off_needs_the_password(factor: Factor) -> None:
    factor.turn_on()
    off, page = "/account/second-factor/off", "/account/"
    assert post(factor.client, off, {"factor_password": "not it at all"}, page=page).status_code == 422
    assert post(factor.client, off, {"factor_password": PASSWORD}, page=page).status_code == 302
    answer = post(factor.site.app.test_client(), "/account/log-in", CREDENTIALS)
    assert answer.headers["Location"] == "/"
