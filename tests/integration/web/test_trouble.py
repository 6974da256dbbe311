from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from flask import abort

from judge.packs.collection.registry import Registry
from store.clock import utc_now
from store.queue.sweeping import record_sweep
from store.settings import builtin_packs
from tests.web_site import KERNEL, Site, make_site, post
from web.app import create_app
from web.settings import WebSettings
from web.submissions import accepting

JSON = {"Accept": "application/json"}


def _without_database(tmp_path: Path) -> Site:
    # Nothing listens on port 1: refused at once.
    url = "postgresql://nobody@127.0.0.1:1/nothing"
    return Site(create_app(WebSettings(data_dir=tmp_path, database_url=url)))


def test_a_database_that_is_away_is_said_and_nothing_is_pretended(tmp_path: Path) -> None:
    client = _without_database(tmp_path).app.test_client()
    page = client.get("/")
    assert page.status_code == 503
    assert "database cannot be reached" in page.text
    assert "Nothing that was accepted is lost" in page.text
    assert int(page.headers["Retry-After"]) > 0
    answer = client.get("/api/v1/devices")
    assert answer.status_code == 503
    assert answer.get_json()["code"] == "database_unavailable"
    # The database says which challenges are hidden.
    assert client.get("/api/v1/challenges").status_code == 503
    # What needs no database is still there.
    assert client.get("/healthz").status_code == 200
    ready = client.get("/readyz")
    assert ready.status_code == 503
    assert ready.get_json()["database"] == "away"
    assert "gpujudge_http_requests_total" in client.get("/metrics").text


def test_a_visitor_who_is_logged_in_sees_the_same_page(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    client = site.visitor()
    os.chmod(site.services.settings.data_dir / "gpujudge.db", 0o600)  # noqa: PTH101
    site.services.engine.dispose()
    monkeypatch.setattr(site.services.engine.pool, "_dialect", site.services.engine.dialect)
    database = site.services.settings.data_dir / "gpujudge.db"
    database.rename(database.with_suffix(".away"))
    database.mkdir()
    page = client.get("/submissions")
    assert page.status_code == 503
    assert "database cannot be reached" in page.text


def test_a_broker_that_is_away_stops_no_submission(data_dir: Path) -> None:
    site = make_site(data_dir, redis_url="redis://127.0.0.1:1/0")
    site.add_device()
    page = "/challenges/vector-add"
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    answer = post(site.visitor(), f"{page}/submissions", data, page=page, headers=JSON)
    assert answer.status_code == 201
    assert site.submission(answer.get_json()["id"]).state == "queued"
    ready = site.app.test_client().get("/readyz")
    assert ready.status_code == 200
    told = ready.get_json()
    assert told.pop("oldest_wait_s") >= 0
    assert told == {
        "status": "degraded",
        "database": "ok",
        "broker": "away",
        "sweeper": "never seen",
        "lease_overdue_s": None,
        "challenges": _challenges(),
    }


def _challenges() -> int:
    return len(Registry.load([builtin_packs()]).packs)


def test_ready_when_all_is_there(site: Site) -> None:
    assert site.app.test_client().get("/readyz").get_json()["status"] == "ok"


def test_a_sweeper_that_died_is_told(site: Site) -> None:
    client = site.app.test_client()
    for age_s, sweeper, status in ((5, "ok", "ok"), (300, "late", "degraded")):
        with site.database() as session:
            record_sweep(session, owner="sweeper", now=utc_now() - timedelta(seconds=age_s))
        told = client.get("/readyz").get_json()
        assert (told["sweeper"], told["status"]) == (sweeper, status)
    figures = client.get("/metrics").text
    (line,) = (line for line in figures.splitlines() if line.startswith("gpujudge_sweep_age_seconds"))
    assert 300 <= float(line.split()[1]) < 330


def test_an_error_of_ours_is_a_page_without_its_reasons(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(accepting, "offered_devices", broken)
    page = "/challenges/vector-add"
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    answer = post(site.visitor(), f"{page}/submissions", data, page=page)
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    assert "Something broke" in answer.text
    as_json = post(site.visitor(), f"{page}/submissions", data, page=page, headers=JSON)
    assert as_json.get_json()["code"] == "internal_error"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/no-such-page", 404), ("PUT", "/", 405), ("GET", "/account/log-out", 405)],
)
def test_error_pages(site: Site, method: str, path: str, status: int) -> None:
    answer = site.app.test_client().open(path, method=method)
    assert answer.status_code == status
    assert f'<p class="code">{status}</p>' in answer.text
    if status == 405:
        assert answer.headers["Allow"]


def test_not_allowed_has_its_page(site: Site) -> None:
    site.app.add_url_rule("/forbidden", view_func=lambda: abort(403))
    answer = site.app.test_client().get("/forbidden")
    assert answer.status_code == 403
    assert "Not allowed" in answer.text


def test_a_broken_pack_hinders_no_other(tmp_path: Path) -> None:
    broken = tmp_path / "packs" / "broken"
    broken.mkdir(parents=True)
    (broken / "challenge.toml").write_text("schema = 2\n")
    site = make_site(tmp_path / "data", pack_paths=(tmp_path / "packs", builtin_packs()))
    page = site.app.test_client().get("/").text
    assert "Vector addition" in page
    assert "broken" not in site.services.all_packs


def test_without_packs_the_page_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    site = make_site(tmp_path / "data", pack_paths=(tmp_path / "none",))
    assert "gpujudge pack verify" in site.app.test_client().get("/").text


def test_metrics_tell_of_requests_and_of_the_queue(site: Site) -> None:
    page = "/challenges/vector-add"
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    post(site.visitor(), f"{page}/submissions", data, page=page)
    text = site.app.test_client().get("/metrics").text
    assert 'gpujudge_jobs{device="emulator",state="queued"} 1.0' in text or (
        'gpujudge_jobs{state="queued",device="emulator"} 1.0' in text
    )
    assert 'gpujudge_http_requests_total{endpoint="challenges.show",method="GET",status="200"} 1.0' in text
    assert 'gpujudge_device_online{device="emulator"} 1.0' in text


def test_invented_methods_share_one_label(site: Site) -> None:
    client = site.app.test_client()
    for method in ("FLY", "SWIM", "WALK"):
        client.open("/", method=method)
    text = client.get("/metrics").text
    assert 'method="other",status="405"} 3.0' in text
    assert "SWIM" not in text


def test_a_token_keeps_the_metrics_from_others(data_dir: Path) -> None:
    client = make_site(data_dir, metrics_token="of Prometheus").app.test_client()
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer of others"}).status_code == 401
    answer = client.get("/metrics", headers={"Authorization": "Bearer of Prometheus"})
    assert answer.status_code == 200
    assert "gpujudge_jobs" in answer.text


def test_too_many_streams_are_told_to_poll(data_dir: Path) -> None:
    site = make_site(data_dir, max_streams=2)
    site.add_device()
    page = "/challenges/vector-add"
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    client = site.visitor()
    events = post(client, f"{page}/submissions", data, page=page, headers=JSON).get_json()["events"]
    stream = {"Accept": "text/event-stream"}
    open_ones = [client.get(events, headers=stream, buffered=False) for _ in range(2)]
    refused = client.get(events, headers=stream)
    assert refused.status_code == 503
    assert client.get(events, headers=JSON).status_code == 200
    for answer in open_ones:
        answer.close()
    assert client.get(events, headers=stream, buffered=False).status_code == 200
