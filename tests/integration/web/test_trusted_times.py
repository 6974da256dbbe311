"""Boards and submissions with intervals, shares of the roofline, fingerprints and audits, as pages and in the API."""

from __future__ import annotations

import dataclasses
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from judge.judgement import BuildReport, Judgement
from judge.judgement_json import read_fingerprint
from judge.measurements import Measurement
from judge.verdict import Verdict
from store.boards.audits import AuditedBoard, claim_board, contenders, finish_audit
from store.people.accounts import find_user
from store.submissions import create_submission
from tests.web_site import H200, KERNEL, Site, accepted, timed, trusted

BOARD_PAGE = "/leaderboards/vector-add?device=nvidia-h200"


@pytest.fixture
def gpu_site(site: Site) -> Site:
    site.add_device(H200)
    return site


def enter(site: Site, username: str, measurement: Measurement) -> str:
    """The id of a judged submission."""
    with site.database() as session:
        known = find_user(session, username) is not None
    if not known:
        site.add_user(username)
    with site.database() as session:
        user = find_user(session, username)
        assert user is not None
        pack = site.services.all_packs["vector-add"]
        made = create_submission(session, user=user, pack=pack, device_key=H200.key, mode="submit", source=KERNEL)
        public_id = made.public_id
    site.work(device=H200, cases=accepted("n-1"), measurement=measurement)
    return public_id


def replayed(value: float) -> Measurement:
    """A measurement in which the kernels of every case were replayed, in the time that was claimed."""
    measured = trusted(value)
    return dataclasses.replace(
        measured, cases=tuple(dataclasses.replace(case, replayed_s=value) for case in measured.cases)
    )


def audit(site: Site, found: dict[str, Measurement | str]) -> None:
    """Audit the board: by user, a measurement, or why the timing is not trusted."""
    board = AuditedBoard("vector-add", H200.key, site.services.all_packs["vector-add"].major)
    now = site.services.clock()
    with site.database() as session:
        lease = claim_board(session, board, owner="test", now=now)
        results = {}
        for each in contenders(session, board):
            made = found[each.username]
            verdict = Verdict.TIMING_NOT_TRUSTED if isinstance(made, str) else Verdict.ACCEPTED
            results[each.submission_id] = Judgement(
                verdict,
                "vector-add",
                "1.0.0",
                H200,
                BuildReport(ok=True, wall_s=0.1),
                measurement=None if isinstance(made, str) else made,
                message=made if isinstance(made, str) else "",
            )
        assert finish_audit(session, lease, results, now=now, pause_s=0)


def rows(site: Site) -> list[str]:
    board = site.app.test_client().get(BOARD_PAGE).text.split('<table class="board">')[1].split("</table>")[0]
    return re.findall(r"<tr[ >].*?</tr>", board, flags=re.DOTALL)[1:]


def test_a_board_shows_intervals_drawn_and_in_words(gpu_site: Site) -> None:
    enter(gpu_site, "ada", trusted(1.250e-4, 4e-7))
    enter(gpu_site, "bob", trusted(1.254e-4, 4e-7))
    enter(gpu_site, "eve", trusted(4.1e-4, 2e-7))
    enter(gpu_site, "old", timed(1.27e-4))
    shown = rows(gpu_site)
    assert [
        (re.findall(r'class="rank">(\d+)', row)[0], name in row)
        for row, name in zip(shown, ("ada", "bob", "old", "eve"), strict=True)
    ] == [("1", True), ("1", True), ("3", True), ("4", True)]
    assert "124.6–125.4 µs" in shown[0]
    assert "72.0 %" in shown[0]
    charts = [
        ElementTree.fromstring(found) for row in shown for found in re.findall(r'<svg class="interval".*?</svg>', row)
    ]
    assert [chart.findtext("title") for chart in charts] == [
        "125.0 µs, 1.000 times the best, 95 % interval 124.6–125.4 µs",
        "125.4 µs, 1.003 times the best, 95 % interval 125.0–125.8 µs",
        "127.0 µs, 1.016 times the best, no interval",
    ]
    assert all(chart.get("role") == "img" for chart in charts)
    assert "3.280× the best" in shown[3], "too far away to be drawn on a scale that tells the others apart"
    places = [float(str(chart.find("circle").get("cx")).rstrip("%")) for chart in charts]  # type: ignore[union-attr]
    assert places == sorted(places)
    assert 0 < places[0] < places[1] < places[2] < 100


def on_card(measured: Measurement, card: str) -> Measurement:
    return dataclasses.replace(measured, fingerprint=dataclasses.replace(measured.fingerprint, uuid_hash=card))


def test_a_board_says_by_how_much_its_cards_differ(gpu_site: Site) -> None:
    said = "Timed on 2 cards that differ by up to 8 % here"
    client = gpu_site.app.test_client()

    def told() -> dict[str, Any]:
        found: dict[str, Any] = client.get("/api/v1/leaderboards/vector-add?device=nvidia-h200").get_json()
        return found

    for name, value, card in (("ada", 1.25e-4, "a"), ("bob", 1.3e-4, "a")):
        enter(gpu_site, name, on_card(trusted(value, 4e-7), card))
    assert "Timed on" not in client.get(BOARD_PAGE).text, "one card"
    assert told()["cards"] == ["a"]
    public_id = enter(gpu_site, "eve", on_card(trusted(1.40e-4, 4e-7), "b"))
    assert "Timed on 2 cards whose difference here is not known yet." in client.get(BOARD_PAGE).text
    audit(gpu_site, {
        "ada": on_card(trusted(1.25e-4, 4e-7), "a"), "bob": on_card(trusted(1.3e-4, 4e-7), "a"),
        "eve": on_card(trusted(1.40e-4 / 1.08, 4e-7), "a"),
    })  # fmt: skip
    assert "Timed on" not in client.get(BOARD_PAGE).text, "all are on one card now"
    enter(gpu_site, "kim", on_card(trusted(1.39e-4, 4e-7), "b"))
    assert f"{said}; the first three were timed again on one card." in client.get(BOARD_PAGE).text
    board = told()
    assert [(entry["username"], entry["rank"], entry["card"]) for entry in board["entries"]] == [
        ("ada", 1, "a"), ("eve", 2, "a"), ("bob", 2, "a"), ("kim", 2, "b")
    ]  # fmt: skip
    assert board["card_spread"] == pytest.approx(0.08)
    page = gpu_site.visitor("eve").get(f"/submissions/{public_id}").text
    assert "Measured on card b" in page


def test_a_long_board_has_pages_and_shows_where_one_is(gpu_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.leaderboard.boards.PAGE", 2)
    for place, name in enumerate(("ada", "bob", "eve", "kim", "lea")):
        enter(gpu_site, name, timed(1e-4 + place * 1e-6))
    page = gpu_site.app.test_client().get(BOARD_PAGE).text
    assert "Page 1 of 3" in page
    assert "page=2" in page
    assert "Your place" not in page
    lea = gpu_site.visitor("lea")
    assert "page=3#mine" in lea.get(BOARD_PAGE).text
    last = lea.get(f"{BOARD_PAGE}&page=9").text
    assert "Page 3 of 3" in last
    assert 'id="mine"' in last
    assert re.findall(r'class="rank">(\d+)', last) == ["5"]
    answer = lea.get("/api/v1/leaderboards/vector-add?limit=2&page=2").get_json()
    assert (answer["page"], answer["pages"]) == (2, 3)
    assert [entry["username"] for entry in answer["entries"]] == ["eve", "kim"]


def test_a_board_without_any_interval_is_as_it_was(gpu_site: Site) -> None:
    enter(gpu_site, "ada", timed())
    [row] = rows(gpu_site)
    assert "0.1250" in row
    assert "± 0.1 %" in row
    assert 'class="interval"' not in row


def test_the_audit_decides_the_order_and_says_when(gpu_site: Site) -> None:
    ids = {name: enter(gpu_site, name, trusted(value)) for name, value in [("ada", 1.25e-4), ("bob", 1.27e-4)]}
    cheat = enter(gpu_site, "mallory", trusted(0.9e-4))
    assert ["audited" in row for row in rows(gpu_site)] == [False] * 3
    audit(
        gpu_site, {"ada": replayed(1.28e-4), "bob": replayed(1.26e-4), "mallory": "it claims less than the clock saw"}
    )
    shown = rows(gpu_site)
    assert ["bob" in shown[0], "ada" in shown[1], len(shown)] == [True, True, 2]
    day = gpu_site.services.clock().strftime("%-d %b %Y")
    assert all(re.search(rf"audited <time [^>]*>{day}</time>", row) for row in shown)

    page = gpu_site.visitor("ada").get(f"/submissions/{ids['ada']}").text
    assert "Audited" in page
    assert "together with 2 others" in page
    assert "127.6–128.4" in page
    assert "124.6–125.4" in page, "what the judge measured stays"
    page = gpu_site.visitor("mallory").get(f"/submissions/{cheat}").text
    assert "Taken off the leaderboard by an audit" in page
    assert "It claims less than the clock saw." in page


def test_a_time_whose_kernels_were_not_replayed_is_shown_as_not_audited(gpu_site: Site) -> None:
    ids = {name: enter(gpu_site, name, trusted(value)) for name, value in [("ada", 1.25e-4), ("bob", 1.27e-4)]}
    measured = trusted(1.28e-4)
    graph = dataclasses.replace(measured.cases[0], not_replayed="it uses <cudaGraphLaunch>")
    audit(gpu_site, {"ada": dataclasses.replace(measured, cases=(graph,)), "bob": replayed(1.27e-4)})
    bob, ada = rows(gpu_site)
    assert ("audited <time" in bob, "not audited" in bob) == (True, False)
    assert ("audited <time" in ada, "not audited: it uses &lt;cudaGraphLaunch&gt;" in ada) == (False, True)
    first, second = (
        gpu_site.app.test_client().get("/api/v1/leaderboards/vector-add?device=nvidia-h200").get_json()["entries"]
    )
    assert (first["audited_at"] is not None, first["not_audited"]) == (True, None)
    assert (second["audited_at"], second["not_audited"]) == (None, "it uses <cudaGraphLaunch>")
    page = gpu_site.visitor("ada").get(f"/submissions/{ids['ada']}").text
    assert "Not audited" in page
    assert "could not be replayed: it uses &lt;cudaGraphLaunch&gt;" in page
    assert "took 127.0 µs" in gpu_site.visitor("bob").get(f"/submissions/{ids['bob']}").text


def test_the_submission_shows_processes_and_what_it_was_measured_on(gpu_site: Site) -> None:
    public_id = enter(gpu_site, "ada", trusted())
    page = gpu_site.visitor("ada").get(f"/submissions/{public_id}").text
    assert "of what this GPU can do for this task" in page
    assert "Measured in 3 fresh processes" in page
    assert page.count("50 calls, median") == 3
    assert "slowest 175.0 µs" in page
    for label, text in [
        ("Card (hash of the GPU&#39;s UUID)", "9f86d081884c"),
        ("nvcc flags", "-std=c++17 -O3"),
        ("Memory", "140 GiB"),
        ("Maximum memory clock", "3,201 MHz"),
        ("SM clock while timed", "1,965 MHz to 1,980 MHz"),
        ("Temperature while timed", "41 °C"),
        ("Power cap reached", "no"),
        ("Bursts dropped for throttling", "2"),
    ]:
        assert f'<th scope="row">{label}</th><td>{text}</td>' in page
    [chart] = [ElementTree.fromstring(svg) for svg in re.findall(r'<svg class="strip".*?</svg>', page, flags=re.DOTALL)]
    assert len(chart.findall("circle")) == 150
    assert len([dot for dot in chart.findall("circle") if dot.get("class") == "far"]) == 1
    assert len([line for line in chart.findall("line") if line.get("class") == "median"]) == 3


def test_a_fingerprint_of_any_shape_can_be_shown(gpu_site: Site) -> None:
    strange: dict[str, Any] = {"<b>": "<i>", "list": [{"a": 1}, {"a": None}], "empty": [], "deep": {"er": {"x": 1.25}},
                               "mixed": [1, "two", True]}  # fmt: skip
    public_id = enter(gpu_site, "ada", dataclasses.replace(trusted(), fingerprint=read_fingerprint(strange)))
    page = gpu_site.visitor("ada").get(f"/submissions/{public_id}").text
    assert "<i>" not in page
    found = re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>', page)
    assert found == [("&lt;b&gt;", "&lt;i&gt;"), ("List 1 a", "1"), ("Deep er x", "1.25"), ("Mixed", "1 two yes")]


def test_the_api_has_all_of_it(gpu_site: Site) -> None:
    public_id = enter(gpu_site, "ada", trusted())
    enter(gpu_site, "bob", timed(1.3e-4))
    client = gpu_site.app.test_client()
    first, second = client.get("/api/v1/leaderboards/vector-add?device=nvidia-h200").get_json()["entries"]
    assert (first["low"], first["high"], first["audited_at"]) == (1.25e-4 - 4e-7, 1.25e-4 + 4e-7, None)
    assert first["roofline_share"] == pytest.approx(0.72)
    assert first["fingerprint"]["driver"] == "580.95.05"
    assert (second["low"], second["high"], second["roofline_share"], second["fingerprint"]) == (None,) * 4
    headers = {"Authorization": f"Bearer {gpu_site.token_of('ada')}"}

    def status() -> dict[str, Any]:
        found: dict[str, Any] = client.get(f"/api/v1/submissions/{public_id}", headers=headers).get_json()
        return found

    assert status()["audit"] is None
    audit(gpu_site, {"ada": "not to be believed", "bob": replayed(1.31e-4)})
    told = status()["audit"]
    assert (told["verdict"], told["message"], told["contenders"]) == ("TI", "not to be believed", 2)
    assert told["measurement"] is None
    [left] = client.get("/api/v1/leaderboards/vector-add?device=nvidia-h200").get_json()["entries"]
    assert (left["username"], left["value"], left["audited_at"] is not None) == ("bob", 1.31e-4, True)
