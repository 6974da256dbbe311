from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from flask.testing import FlaskClient

from tests.web_site import PASSWORD, Site, make_site, post
from web.assets import digest_of

PAGES = ["/", "/challenges/vector-add", "/account/log-in", "/leaderboards/", "/no-such-page", "/api/v1/challenges"]
CHECKED_BEFORE_REUSE = {"/api/v1/challenges"}
"""Responses that are the same for everybody: a client keeps them, and asks with the ETag for changes."""


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_carries_the_headers(site: Site, path: str) -> None:
    headers = site.app.test_client().get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cache-Control"] == ("no-cache" if path in CHECKED_BEFORE_REUSE else "no-store")


@pytest.mark.parametrize("path", PAGES[:5])
def test_no_page_has_inline_script_or_style_or_foreign_addresses(site: Site, path: str) -> None:
    page = site.app.test_client().get(path).text
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)
    assert not re.search(r"\son\w+=|\sstyle=|<style", page)
    assert not re.search(r'(?:src|action)="(?:https?:)?//|<link[^>]*href="(?:https?:)?//', page)


def test_the_nonce_of_styles_is_new_each_time(site: Site) -> None:
    client = site.app.test_client()
    nonces = {
        re.search(r'name="style-nonce" content="([^"]+)"', client.get("/").text)[1]  # type: ignore[index]
        for _ in range(3)
    }
    assert len(nonces) == 3


@pytest.mark.parametrize("secure", [False, True])
def test_session_cookies_are_guarded(data_dir: Path, secure: bool) -> None:
    site = make_site(data_dir, session_cookie_secure=secure)
    site.add_user("ada")
    client = site.app.test_client()
    base = "https://localhost" if secure else "http://localhost"
    page = client.get("/account/log-in", base_url=base)
    token = re.search(r'name="csrf_token"[^>]* value="([^"]+)"', page.text)
    assert token is not None
    answer = client.post(
        "/account/log-in",
        data={"csrf_token": token[1], "username": "ada", "password": PASSWORD},
        base_url=base,
        headers={"Referer": f"{base}/account/log-in"},
    )
    (cookie,) = answer.headers.getlist("Set-Cookie")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert ("Secure" in cookie) is secure
    assert ("Strict-Transport-Security" in answer.headers) is secure


def test_the_api_takes_no_cookies(site: Site) -> None:
    assert site.visitor().get("/api/v1/me").status_code == 401


def test_forwarded_addresses_are_believed_only_of_trusted_proxies(tmp_path: Path) -> None:
    def answers(trusted: int) -> list[int]:
        site = make_site(tmp_path / str(trusted), address_rate="1 per hour", trusted_proxies=trusted)
        client = site.app.test_client()
        return [
            post(
                client,
                "/account/log-in",
                {"username": "ada", "password": "guess number"},
                headers={"X-Forwarded-For": f"203.0.113.{number}"},
            ).status_code
            for number in (1, 2)
        ]

    assert answers(0) == [422, 429]
    assert answers(1) == [422, 422]


def test_static_files_may_be_kept_when_their_address_has_their_digest(site: Site) -> None:
    client = site.app.test_client()
    (address,) = re.findall(r'href="(/static/v[^"]*/css/app.css)"', client.get("/").text)
    for path, said in ((address, "immutable"), ("/static/js/follow.js", "no-cache")):
        with client.get(path) as answer:
            assert said in answer.headers["Cache-Control"]


def test_the_digest_follows_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("a")
    digests = [digest_of(tmp_path)]
    (tmp_path / "a.css").write_text("b")
    digests.append(digest_of(tmp_path))
    (tmp_path / "a.css").rename(tmp_path / "b.css")
    digests.append(digest_of(tmp_path))
    assert len(set(digests)) == 3


def test_an_address_of_an_earlier_version_is_answered_and_not_kept(site: Site) -> None:
    with site.app.test_client().get("/static/v0123456789ab/js/follow.js") as answer:
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "no-cache"


def test_a_page_names_all_modules_that_its_script_imports(site: Site) -> None:
    client = site.app.test_client()
    text = client.get("/challenges/vector-add").text
    preloaded = re.findall(r'<link rel="modulepreload" href="([^"]*)"( fetchpriority="low")?>', text)
    (script,) = re.findall(r'<script type="module" src="([^"]*workbench.js)">', text)
    (editor,) = (address for address, low in preloaded if address.endswith("/editor/editor.js"))
    assert {address for address, low in preloaded if not low} == _imported(client, script)
    # What the first key does not wait for comes after what it does wait for.
    assert {address for address, low in preloaded if low} == {editor} | _imported(client, editor)


def _imported(client: FlaskClient, script: str) -> set[str]:
    """Returns the addresses of all modules that a module needs before it runs."""
    found, left = set[str](), [script]
    while left:
        address = left.pop()
        with client.get(address) as answer:
            for target in re.findall(r'(?:from|import) *"([^"]*)"', answer.text):
                imported = urljoin(address, target)
                if imported not in found:
                    found.add(imported)
                    left.append(imported)
    assert len(found) > 1
    return found


@pytest.mark.parametrize("proxies", [0, 1])
def test_only_a_proxy_may_give_a_request_its_id(data_dir: Path, proxies: int) -> None:
    client = make_site(data_dir, trusted_proxies=proxies).app.test_client()
    headers = {"traceparent": f"00-{'a1' * 16}-{'b2' * 8}-01"}
    ids = [client.get("/help/", headers=headers).headers["X-Request-Id"] for _ in range(2)]
    assert (ids == ["a1" * 16] * 2) is (proxies == 1)
    assert len(set(ids)) == (1 if proxies else 2)


def test_json_that_is_nested_too_deeply_is_invalid_wherever_json_is_read(site: Site) -> None:
    site.add_device()
    site.add_user("ada")
    headers = {"Authorization": f"Bearer {site.token_of('ada')}", "Content-Type": "application/json"}
    client, deep = site.app.test_client(), "[" * 100_000 + "]" * 100_000
    for rule in site.app.url_map.iter_rules():
        path = re.sub(r"<[^>]+>", "vector-add", re.sub(r"<int:[^>]+>", "1", rule.rule))
        for method in sorted({"POST", "PUT", "PATCH"} & (rule.methods or set())):
            for body in (deep, f'{{"source": {deep}}}'):
                assert client.open(path, method=method, data=body, headers=headers).status_code < 500, rule.rule
    answer = client.post("/api/v1/submissions", data=deep, headers=headers)
    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
