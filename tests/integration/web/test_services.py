"""The same site on PostgreSQL and Redis."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web_site import KERNEL, Site, accepted, make_site, on_emulator, post

pytestmark = [pytest.mark.postgres, pytest.mark.redis]
PAGE = "/challenges/vector-add"
JSON = {"Accept": "application/json"}


@pytest.fixture
def site(data_dir: Path, postgres_url: str, redis_url: str) -> Iterator[Site]:
    site = make_site(data_dir, database_url=postgres_url, redis_url=redis_url, submission_rate="2 per hour")
    site.add_device()
    yield site
    site.services.engine.dispose()


def test_from_submission_to_board(site: Site) -> None:
    client = site.visitor()
    data = {"source": "\x00" + KERNEL, "device": "emulator", "mode": "submit"}
    links = post(client, f"{PAGE}/submissions", data, page=PAGE, headers=JSON).get_json()
    site.work(cases=accepted("a"), measurement=on_emulator())
    assert (
        client.get(links["events"], headers={"Accept": "text/event-stream"})
        .text.rstrip()
        .endswith("event: end\ndata: {}")
    )
    assert "Accepted" in client.get(links["url"]).text.title()
    assert "4.242 ms" in client.get("/leaderboards/vector-add?device=emulator").text
    assert site.app.test_client().get("/readyz").get_json()["status"] == "ok"


def test_rates_are_counted_in_redis_for_every_process(site: Site, redis_url: str) -> None:
    other = make_site(
        site.services.settings.data_dir,
        database_url=site.services.settings.database_url,
        redis_url=redis_url,
        submission_rate="2 per hour",
    )
    answers = [
        post(
            each.visitor(),
            f"{PAGE}/submissions",
            {"source": str(number), "device": "emulator", "mode": "submit"},
            page=PAGE,
        )
        for number, each in enumerate((site, other, site))
    ]
    other.services.engine.dispose()
    assert [answer.status_code for answer in answers] == [303, 303, 429]


@pytest.mark.parametrize(
    "path",
    [
        "/submissions?before=%00",
        "/submissions/%00",
        "/leaderboards/vector-add?device=%00",
        "/challenges/%00",
        "/api/v1/challenges/%00",
    ],
)
def test_strange_bytes_break_nothing(site: Site, path: str) -> None:
    assert site.visitor().get(path).status_code in {200, 400, 404}


def test_numbers_beyond_any_column_break_nothing(site: Site) -> None:
    answer = post(site.visitor(), f"/account/tokens/{10**30}/revoke", {}, page="/account/")
    assert answer.status_code == 404
    token = {"Authorization": f"Bearer {site.token_of('ada')}", **JSON}
    assert site.app.test_client().get(f"/api/v1/submissions/x/events?after={10**30}", headers=token).status_code == 422
