"""A site filled by version 1.0.0 serves its data after an upgrade: accounts, submissions, boards, contests, the queue.

SQL writes the rows into 1.0.0's tables, so that no later code takes part.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from benchmarks.fill_site import TOTALS
from store.clock import utc_now
from store.database import make_engine
from store.migrate import is_current, upgrade
from store.queue.jobs import LeaseRules
from store.queue.sweeping import expire_leases
from tests.cheap_passwords import HASHER
from tests.stored_judgements import STORED, load_stored
from tests.web_site import EMULATOR, H200, KERNEL, Site, accepted, on_emulator, post
from web.app import create_app
from web.settings import WebSettings

PASSWORD = "a password of years ago"
HASH = HASHER.hash(PASSWORD)
TOKEN = "gj_made-by-the-first-release"
DAY = datetime(2025, 1, 10, 12)
BEST_S = 1e-6
JUDGED = list(STORED)


def fill_first_release(connection: Connection) -> None:
    """Writes three users, a token, judged and waiting submissions, and their totals."""
    for name, role in (("Ada", "operator"), ("bob", "user"), ("B0b", "user")):
        connection.execute(
            text(
                "INSERT INTO users (username, username_key, password_hash, is_active, role, created_at)"
                " VALUES (:name, :key, :hash, true, :role, :day)"
            ),
            {"name": name, "key": name.casefold(), "hash": HASH, "role": role, "day": DAY},
        )
    connection.execute(
        text(
            "INSERT INTO api_tokens (user_id, name, token_hash, prefix, created_at)"
            " SELECT id, 'laptop', :hash, :prefix, :day FROM users WHERE username_key = 'ada'"
        ),
        {"hash": hashlib.sha256(TOKEN.encode()).hexdigest(), "prefix": TOKEN[:7], "day": DAY},
    )
    for device in (EMULATOR, H200):
        connection.execute(
            text(
                "INSERT INTO devices (key, kind, name, compute_capability, details, first_seen_at, last_seen_at)"
                " VALUES (:key, :kind, :name, :cc, '{}', :day, :day)"
            ),
            {
                "key": device.key,
                "kind": device.kind,
                "name": device.name,
                "cc": device.compute_capability,
                "day": DAY,
            },
        )
    for name in JUDGED:
        _enter(connection, name, load_stored(name)["device"]["key"], "done", user="ada", judgement=load_stored(name))
    faster = load_stored("v3_replayed")
    faster["measurement"]["value"] = BEST_S
    _enter(connection, "bobs-best", H200.key, "done", user="bob", judgement=faster)
    _enter(connection, "waiting", EMULATOR.key, "queued", user="bob")
    _enter(connection, "was-building", EMULATOR.key, "building", user="ada")
    for statement in TOTALS:
        connection.execute(text(statement))


def _enter(
    connection: Connection,
    public_id: str,
    device: str,
    state: str,
    *,
    user: str,
    judgement: dict[str, object] | None = None,
) -> None:
    """Inserts a submission with its job, its events and, where it was accepted and timed, its place on the board."""
    values = {
        "public_id": public_id[-16:],
        "user": user,
        "device": device,
        "state": state,
        "source": KERNEL.encode(),
        "day": DAY,
        "verdict": judgement and judgement["verdict"],
        "judgement": judgement and json.dumps(judgement),
        "finished": judgement and DAY,
        "owner": "a worker of old" if state == "building" else None,
        "until": DAY if state == "building" else None,
    }
    connection.execute(
        text(
            "INSERT INTO submissions (public_id, user_id, challenge, pack_version, pack_major, pack_digest, device_key,"
            " mode, source_bytes, seed, state, verdict, judgement, last_event_seq, created_at, finished_at)"
            " SELECT :public_id, id, 'vector-add', '1.0.0', 1, 'of old', :device, 'submit', :source, 7, :state,"
            " :verdict, :judgement, 1, :day, :finished FROM users WHERE username_key = :user"
        ),
        values,
    )
    of_it = "FROM submissions WHERE public_id = :public_id"
    connection.execute(
        text(
            "INSERT INTO jobs (submission_id, user_id, device_key, state, failures, lease_token, lease_owner,"
            " lease_until, available_at, rung_at)"
            f" SELECT id, user_id, :device, :state, 0, :owner, :owner, :until, :day, :day {of_it}"
        ),
        values,
    )
    connection.execute(
        text(
            "INSERT INTO events (submission_id, seq, kind, payload, created_at)"
            f" SELECT id, 1, :state, '{{}}', :day {of_it}"
        ),
        values,
    )
    measurement = judgement and judgement["measurement"]
    if isinstance(measurement, dict):
        names = ("metric", "value", "runs", "spread", "median_s", "gb_per_s", "gflop_per_s")
        connection.execute(
            text(
                f"INSERT INTO measurements (submission_id, user_id, challenge, device_key, pack_major, created_at,"
                f" {', '.join(names)}) SELECT id, user_id, 'vector-add', :device, 1, :day,"
                f" {', '.join(':' + name for name in names)} {of_it}"
            ),
            values | {name: measurement[name] for name in names},
        )


def fill_contests(connection: Connection) -> None:
    """Writes a contest with Ada and bob in it."""
    connection.execute(
        text(
            "INSERT INTO contests (slug, title, description, starts_at, ends_at, revealed, scoring, devices,"
            " opens_sources, owner_id, created_at) SELECT 'winter', 'Winter cup', 'Bring *tea*.', :start, :end, false,"
            " 'places', :device, true, id, :day FROM users WHERE username_key = 'ada'"
        ),
        {"start": DAY.replace(hour=0), "end": DAY.replace(hour=23), "device": H200.key, "day": DAY},
    )
    connection.execute(
        text(
            "INSERT INTO contest_challenges (contest_id, challenge, position) SELECT id, 'vector-add', 0 FROM contests"
        )
    )
    connection.execute(
        text(
            "INSERT INTO contest_members (contest_id, user_id, joined_at)"
            " SELECT contests.id, users.id, :day FROM contests, users WHERE username_key IN ('ada', 'bob')"
        ),
        {"day": DAY},
    )


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def settings(request: pytest.FixtureRequest, data_dir: Path) -> WebSettings:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return WebSettings(data_dir=data_dir, database_url=url)


def test_data_of_the_first_release_is_served_and_its_queue_is_judged(settings: WebSettings) -> None:
    engine = make_engine(settings)
    upgrade(settings, "0001")
    with engine.begin() as connection:
        fill_first_release(connection)
        fill_contests(connection)
    upgrade(settings)
    assert is_current(engine)
    engine.dispose()
    site = Site(create_app(settings))
    try:
        _expect_that_it_is_served(site)
    finally:
        site.services.engine.dispose()


def _expect_that_it_is_served(site: Site) -> None:
    client = site.app.test_client()

    _judge_what_waited(site, "waiting", "was-building")

    api = {"Authorization": f"Bearer {TOKEN}"}
    assert client.get("/api/v1/me", headers=api).get_json()["username"] == "Ada"
    for name in JUDGED:
        status = client.get(f"/api/v1/submissions/{name[-16:]}", headers=api).get_json()
        assert status["judgement"]["verdict"] == load_stored(name)["verdict"]

    entries = client.get(f"/api/v1/leaderboards/vector-add?device={H200.key}").get_json()["entries"]
    assert [entry["username"] for entry in entries] == ["bob", "Ada"]
    assert entries[0]["value"] == BEST_S
    board = client.get(f"/leaderboards/vector-add?device={H200.key}").text
    assert 0 < board.index(">bob</a>") < board.index(">Ada</a>")
    row = re.search(
        r'<td[^>]*>(?:(?!</tr>).)*href="/challenges/vector-add".*?</tr>',
        client.get(f"/?device={H200.key}").text,
        re.DOTALL,
    )
    assert row is not None
    assert '<td class="number hide-phone">2</td>' in row[0]  # solvers
    standings = client.get("/contests/winter/standings.json").get_json()["standings"]
    assert [(row["rank"], row["user"]) for row in standings] == [(1, "bob"), (2, "Ada")]

    # B0b looks like bob: a name that sign-up refuses, but an account that has it can log in.
    for name in ("Ada", "bob", "B0b"):
        browser = site.app.test_client()
        assert post(browser, "/account/log-in", {"username": name, "password": PASSWORD}).status_code == 302
        for path in ("/", "/submissions", "/account/", "/contests/", "/contests/winter", "/tracks/"):
            assert browser.get(path).status_code == 200, (name, path)
        # Ada is an operator.
        assert browser.get("/admin/users").status_code == (200 if name == "Ada" else 404)
        if name == "Ada":
            for judged in JUDGED:
                page = browser.get(f"/submissions/{judged[-16:]}")
                assert page.status_code == 200, judged
            sent = {"source": KERNEL, "device": EMULATOR.key, "mode": "submit"}
            answered = post(browser, "/challenges/vector-add/submissions", sent, page="/challenges/vector-add")
            assert answered.status_code == 303, answered.text


def _judge_what_waited(site: Site, *public_ids: str) -> None:
    """Ends the leases of workers of old and judges what waits: the submissions with these ids."""
    site.add_device()
    with site.database() as session:
        lost = expire_leases(session, now=utc_now(), rules=LeaseRules())
        assert [one.owner for one in lost] == ["a worker of old"]
    for _ in public_ids:
        site.work(cases=accepted("n-1"), measurement=on_emulator())
    found = [site.submission(public_id) for public_id in public_ids]
    assert {(one.state, one.verdict) for one in found} == {("done", "AC")}
