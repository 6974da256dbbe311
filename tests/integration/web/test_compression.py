"""Responses are compressed, except those that hold a secret."""

from __future__ import annotations

import gzip

import pytest
from flask_compress import flask_compress

from tests.web_site import Site

GZIP = {"Accept-Encoding": "gzip"}


@pytest.mark.parametrize(
    "path",
    ["/", "/api/v1/challenges", "/static/css/app.css", "/static/js/workbench.js", "/static/vendor/editor/editor.js"],
)
def test_what_holds_no_secret_is_compressed_and_the_same(site: Site, path: str) -> None:
    client = site.app.test_client()
    with client.get(path) as plain, client.get(path, headers={"Accept-Encoding": "zstd, br, gzip"}) as packed:
        assert packed.headers.get("Content-Encoding") in {"zstd", "br", "gzip"}
        assert "Accept-Encoding" in packed.headers["Vary"]
        assert "Content-Encoding" not in plain.headers
        assert len(packed.data) < len(plain.data) / 2
        assert packed.headers["Cache-Control"] == plain.headers["Cache-Control"]


def test_what_comes_out_is_what_went_in(site: Site) -> None:
    client = site.app.test_client()
    packed = client.get("/api/v1/challenges", headers=GZIP)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == client.get("/api/v1/challenges").data


def test_a_page_with_a_token_against_forgery_is_not_compressed(site: Site) -> None:
    page = site.visitor().get("/challenges/vector-add", headers=GZIP)
    assert 'name="csrf_token"' in page.text
    assert "Content-Encoding" not in page.headers


def test_a_file_is_compressed_once_for_each_algorithm(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    client = site.app.test_client()
    paths = ["/static/css/app.css", "/static/js/workbench.js"]

    def received(encoding: str) -> list[bytes]:
        answers = [client.get(path, headers={"Accept-Encoding": encoding}) for path in paths]
        return [answer.data for answer in answers]

    plain, first, brotli = received("identity"), received("gzip"), received("br")
    assert [gzip.decompress(content) for content in first] == plain
    monkeypatch.setattr(flask_compress, "_compress_data", None)
    assert (received("gzip"), received("br")) == (first, brotli)
