"""The Atom feeds: well-formed, with what RFC 4287 asks of feeds and entries, and not sent twice."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

from store.packs import record_packs
from tests.web_site import H200, KERNEL, Site, accepted, post, timed
from web.feeds.atom import Entry, write_feed

NAMES = {"a": "http://www.w3.org/2005/Atom"}
BOARD = f"/leaderboards/vector-add.atom?device={H200.key}"
T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def parse(data: bytes) -> list[dict[str, str]]:
    """Returns the entries of a feed, after a look at what every feed and entry must have exactly once."""
    feed = ET.fromstring(data)
    assert feed.tag == "{http://www.w3.org/2005/Atom}feed"
    entries = feed.findall("a:entry", NAMES)
    for element in (feed, *entries):
        for name in ("id", "title", "updated"):
            [found] = element.findall(f"a:{name}", NAMES)
            assert found.text
        moment = element.findtext("a:updated", namespaces=NAMES)
        assert moment is not None
        assert datetime.fromisoformat(moment).tzinfo is not None
        assert element.find("a:link[@rel='alternate']", NAMES) is not None
    assert feed.findtext("a:author/a:name", namespaces=NAMES) == "gpujudge"
    link = feed.find("a:link[@rel='self']", NAMES)
    assert link is not None
    assert link.get("href") == feed.findtext("a:id", namespaces=NAMES)
    told = [
        {name: entry.findtext(f"a:{name}", "", namespaces=NAMES) for name in ("id", "title", "updated", "summary")}
        for entry in entries
    ]
    assert len({entry["id"] for entry in told}) == len(told)
    return told


def _enter(site: Site, username: str, value: float) -> None:
    data = {"source": KERNEL, "device": H200.key, "mode": "submit"}
    post(site.visitor(username), "/challenges/vector-add/submissions", data, page="/challenges/vector-add")
    site.work(device=H200, cases=accepted("n-1"), measurement=timed(value))


def test_challenges_are_told_the_newest_first(site: Site) -> None:
    client = site.app.test_client()
    assert parse(client.get("/challenges.atom").data) == []
    packs = site.services.all_packs
    with site.database() as session:
        record_packs(session, [packs["softmax"]], now=T0)
        record_packs(session, [packs["vector-add"]], now=T0 + timedelta(days=1))
    answer = client.get("/challenges.atom")
    assert answer.mimetype == "application/atom+xml"
    first, second = parse(answer.data)
    assert (first["id"], first["title"]) == ("http://localhost/challenges/vector-add", packs["vector-add"].title)
    assert (second["id"], second["updated"]) == ("http://localhost/challenges/softmax", "2026-01-02T03:04:05Z")


def test_a_board_tells_of_new_results_and_an_old_one_is_not_sent_again(site: Site) -> None:
    site.add_device(H200)
    client = site.app.test_client()
    assert parse(client.get(BOARD).data) == []
    _enter(site, "ada", 1e-4)
    _enter(site, "bob", 2e-4)
    answer = client.get(BOARD)
    assert [entry["title"].split(":")[0] for entry in parse(answer.data)] == ["bob", "ada"]
    again = client.get(BOARD, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    _enter(site, "ada", 0.5e-4)
    changed = client.get(BOARD, headers={"If-None-Match": answer.headers["ETag"]})
    assert changed.status_code == 200
    assert [entry["title"].split(":")[0] for entry in parse(changed.data)] == ["ada", "bob"]


def test_an_unknown_board_has_no_feed(site: Site) -> None:
    client = site.app.test_client()
    assert client.get("/leaderboards/nothing.atom").status_code == 404
    assert client.get("/leaderboards/vector-add.atom?device=nothing").status_code == 404


def test_pages_name_their_feeds(site: Site) -> None:
    site.add_device(H200)
    client = site.app.test_client()
    link = '<link rel="alternate" type="application/atom+xml"'
    assert client.get("/").text.count(link) == 1
    page = client.get(f"/leaderboards/vector-add?device={H200.key}").text
    assert page.count(link) == 2
    assert f'href="{BOARD}"' in page


def test_text_that_xml_cannot_hold_is_replaced() -> None:
    entry = Entry("tag:x", "a\x00<b>\ud800", "http://x/?a=1&b=2", T0, "\x1b[0m & more")
    [told] = parse(write_feed(address="http://x/f", title="T", page="http://x/", entries=[entry]))
    assert told["title"] == "a\ufffd<b>\ufffd"
    assert told["summary"] == "\ufffd[0m & more"
