"""A contest from its making to its export, with the clock of the server."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from judge.judgement import BuildReport, Judgement
from judge.verdict import Verdict
from store.boards.audits import claim_audit, contenders, fail_audit, finish_audit
from store.models import AuditJob, OperatorAction, Role, Submission
from store.operation.administration import put_on_board, rejudge, take_off_board
from store.operation.operator_log import Actor
from store.people.accounts import find_user
from store.teaching.contest_audits import request_contest_audits
from tests.integration.web.timed_site import Clock, promoted
from tests.web_site import H200, Site, accepted, make_site, post, timed
from web.contests import standings as contest_standings
from web.contests import views as contest_pages
from web.kept import KEEP

FORM = {
    "title": "Friday <night>",
    "slug": "friday",
    "description": "Bring *tea*.",
    "challenges": "vector-add, softmax",
    "devices": H200.key,
    "scoring": "time",
    "code": "",
}
PAGE = "/contests/friday"


@pytest.fixture
def site(timed_site: Site) -> Site:
    return timed_site


@pytest.fixture
def teacher(site: Site) -> FlaskClient:
    return promoted(site, "teacher", Role.TEACHER)


def save(teacher: FlaskClient, clock: Clock, page: str = "/contests/new", **changes: str) -> Any:
    """Saves a contest from 13:00 to 15:00."""
    return post(teacher, page, {**FORM, "starts_at": clock.field(13), "ends_at": clock.field(15), **changes})


def take_part(*clients: FlaskClient) -> None:
    for client in clients:
        assert post(client, f"{PAGE}/join", {}, page=PAGE).status_code == 303


def send(site: Site, client: FlaskClient, clock: Clock, hour: float, slug: str, value: float) -> str:
    """Submits at an hour of the day."""
    clock.now = clock.at(hour)
    data = {"source": f"// {value}", "device": H200.key, "mode": "submit"}
    answer = post(client, f"/challenges/{slug}/submissions", data, page=f"/challenges/{slug}")
    public_id = str(answer.location).rsplit("/", 1)[1]
    with site.database() as session:
        session.query(Submission).filter_by(public_id=public_id).update({"created_at": clock.now})
    site.work(device=H200, cases=accepted("n-1"), measurement=timed(value))
    return public_id


def standings(client: FlaskClient) -> list[tuple[int, str, float]]:
    rows = client.get(f"{PAGE}/standings.json").get_json()["standings"]
    return [(row["rank"], row["user"], round(row["total"], 3)) for row in rows]


def test_from_its_making_to_its_export(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    assert save(teacher, clock).location == PAGE
    ada, bob, cy = (site.visitor(name) for name in ("ada", "bob", "cy"))
    page = ada.get(PAGE).text
    assert "Friday &lt;night&gt;" in page
    assert "<em>tea</em>" in page
    take_part(ada, bob, cy)
    send(site, ada, clock, 12.9, "vector-add", 1e-5)  # before the start
    mine = send(site, ada, clock, 13.0, "vector-add", 1e-4)
    clock.now = clock.at(14)
    assert 'data-countdown="3600"' in ada.get("/challenges/vector-add").text
    assert "data-countdown" not in site.visitor("dan").get("/challenges/vector-add").text
    clock.now = clock.at(12)
    send(site, ada, clock, 14.0, "vector-add", 2e-4)  # slower
    send(site, bob, clock, 14.0, "vector-add", 2e-4)
    send(site, bob, clock, 14.99, "softmax", 3e-4)
    late = send(site, cy, clock, 15.0, "softmax", 1e-4)
    assert standings(ada) == [(1, "bob", 3.0), (2, "ada", 1.0), (3, "cy", 0.0)]
    assert "It counts in" in ada.get(f"/submissions/{mine}").text
    assert "does not count" not in ada.get(f"/submissions/{mine}").text
    page = cy.get(f"/submissions/{late}").text
    assert "It counts in" not in page
    assert "It does not count in" in page
    assert "it arrived after the end" in page
    assert "Ended" in ada.get(PAGE).text
    table = list(csv.reader(io.StringIO(cy.get(f"{PAGE}/standings.csv").text)))
    assert table[0][2:5] == ["total", "vector-add result", "vector-add place"]
    assert table[2] == ["2", "ada", "1.0", "0.0001", "1", "", ""]
    assert 'http-equiv="refresh"' in site.app.test_client().get(f"{PAGE}/screen").text
    # Changed afterwards, everything is counted anew.
    assert save(teacher, clock, f"{PAGE}/edit", scoring="places", challenges="vector-add").status_code == 303
    assert standings(ada) == [(1, "ada", 1.0), (2, "bob", 2.0), (3, "cy", 4.0)]
    with site.database() as session:
        actions = session.query(OperatorAction).order_by(OperatorAction.id)
        assert [row.action for row in actions] == ["contest made", "contest changed"]


def audit(site: Site, clock: Clock, **values: float | None) -> list[str]:
    """Has an audit done that a sweep asks for, with values by user, None for a wrong answer. Returns who was timed."""
    with site.database() as session:
        session.query(AuditJob).filter_by(contest_id=0).delete()  # a board's own
        request_contest_audits(session, now=clock.now, max_failures=3)
    with site.database() as session:
        lease = claim_audit(session, device_key=H200.key, owner="w", now=clock.now, max_failures=3)
        assert lease is not None
        assert lease.board.contest_id == 1
        found = contenders(session, lease.board)
    results = {}
    for one in found:
        value = values[one.username]
        results[one.submission_id] = Judgement(
            Verdict.ACCEPTED if value else Verdict.WRONG_ANSWER, lease.board.challenge, "1.0.0", H200,
            BuildReport(ok=True, wall_s=0.1), measurement=timed(value) if value else None,
        )  # fmt: skip
    with site.database() as session:
        assert finish_audit(session, lease, results, now=clock.now, pause_s=0)
    return [one.username for one in found]


def test_what_decides_it_is_timed_again_when_it_has_ended(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    save(teacher, clock, challenges="vector-add", scoring="points")
    users = {name: site.visitor(name) for name in ("ada", "bob", "cy", "dan", "eve")}
    take_part(*users.values())
    for number, client in enumerate(users.values()):
        send(site, client, clock, 13.5 + number / 10, "vector-add", (number + 1) * 1e-4)
    send(site, users["ada"], clock, 14.1, "vector-add", 1.05e-4)  # nearly as good: it is not compared with the other
    clock.now = clock.at(14.9)
    with site.database() as session:
        assert request_contest_audits(session, now=clock.now, max_failures=3) == []
        assert session.query(AuditJob).filter(AuditJob.contest_id > 0).count() == 0
    clock.now = clock.at(15)
    assert "This is not finished" in users["ada"].get(PAGE).text
    assert audit(site, clock, ada=2e-4, bob=1e-4, cy=None) == ["ada", "bob", "cy"]
    # Who comes in for a wrong answer is timed together with the others.
    assert audit(site, clock, ada=2e-4, bob=1e-4, dan=4e-4) == ["bob", "ada", "dan"]
    assert standings(users["ada"]) == [
        (1, "bob", 100.0),
        (2, "ada", 50.0),
        (3, "dan", 25.0),
        (4, "eve", 20.0),
        (5, "cy", 0.0),
    ]
    with site.database() as session:
        assert request_contest_audits(session, now=clock.now, max_failures=3) == ["friday"]
        assert claim_audit(session, device_key=H200.key, owner="w", now=clock.now, max_failures=3) is None
    page = users["ada"].get(PAGE).text
    assert "This is not finished" not in page
    rows = re.findall(r"<tr><td>Vector addition</td>.*?</tr>", page, re.DOTALL)
    cells = [
        [re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)] for row in rows
    ]
    assert [[cell[1], cell[3], cell[4]] for cell in cells] == [
        ["bob", "200 µs", "100 µs"], ["ada", "100 µs", "200 µs"], ["dan", "400 µs", "400 µs"],
        ["cy", "300 µs", "wrong answer: it no longer counts"],
    ]  # fmt: skip
    found = users["ada"].get(f"{PAGE}/standings.json").get_json()
    assert found["settled_at"] is not None
    assert [row["results"]["vector-add"]["audited"] for row in found["standings"][:4]] == [True, True, True, False]
    board = users["ada"].get(f"/api/v1/leaderboards/vector-add?device={H200.key}").get_json()["entries"]
    assert [(entry["username"], entry["value"]) for entry in board][:2] == [("ada", 1e-4), ("bob", 2e-4)]
    assert "cy" not in {entry["username"] for entry in board}


def test_a_judgement_that_changes_unsettles_the_contest(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    save(teacher, clock, challenges="vector-add")
    ada, bob = site.visitor("ada"), site.visitor("bob")
    take_part(ada, bob)
    send(site, ada, clock, 13.5, "vector-add", 1e-4)
    sent = send(site, bob, clock, 13.6, "vector-add", 2e-4)
    clock.now = clock.at(15)
    audit(site, clock, ada=1e-4, bob=2e-4)

    def settle() -> list[str]:
        with site.database() as session:
            return request_contest_audits(session, now=clock.now, max_failures=3)

    assert settle() == ["friday"]
    with site.database() as session:
        submission = site.submission(sent)
        take_off_board(session, Actor("ops"), session.get_one(Submission, submission.id), "copied", now=clock.now)
    assert [row[1] for row in standings(ada)] == ["ada", "bob"]
    assert settle() == ["friday"]
    with site.database() as session:
        row = session.get_one(Submission, submission.id)
        put_on_board(session, Actor("ops"), row, now=clock.now)
        rejudge(session, Actor("ops"), row, "the driver was wrong", now=clock.now)
    assert settle() == []  # it waits for the judgement
    site.work(device=H200, cases=accepted("n-1"), measurement=timed(5e-5))
    assert standings(ada)[0][1] == "bob"
    assert audit(site, clock, ada=1e-4, bob=2e-4) == ["bob", "ada"]
    assert standings(ada)[0][1] == "ada"


def test_audits_that_fail_leave_the_times_as_they_were(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    save(teacher, clock, challenges="vector-add", frozen_at=clock.field(14))
    ada, bob = site.visitor("ada"), site.visitor("bob")
    take_part(ada, bob)
    send(site, ada, clock, 13.5, "vector-add", 1e-4)
    send(site, bob, clock, 14.5, "vector-add", 5e-5)
    clock.now = clock.at(15)
    with site.database() as session:
        session.query(AuditJob).delete()
    for _ in range(2):
        with site.database() as session:
            assert request_contest_audits(session, now=clock.now, max_failures=2) == []
            lease = claim_audit(session, device_key=H200.key, owner="w", now=clock.now, max_failures=2)
            assert lease is not None
            fail_audit(session, lease, "the GPU fell off", now=clock.now, pause_s=0, max_failures=2)
    with site.database() as session:
        assert request_contest_audits(session, now=clock.now, max_failures=2) == ["friday"]
    page = ada.get(PAGE).text
    assert "It could not be done for all of them" in page
    assert "fell off" not in page
    save(teacher, clock, f"{PAGE}/edit", challenges="vector-add", frozen_at=clock.field(14))
    audit(site, clock, ada=1e-4, bob=5e-5)
    # The freeze still hides what came after it, audits included.
    assert "<td>Vector addition</td>" not in ada.get(PAGE).text
    assert "<td>Vector addition</td>" in teacher.get(PAGE).text
    assert [row[1] for row in standings(ada)] == ["ada", "bob"]


def test_a_freeze_hides_others_later_results_until_they_are_shown(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    freeze = {"frozen_at": clock.field(14), "scoring": "places", "challenges": "vector-add"}
    save(teacher, clock, **freeze)
    ada, bob = site.visitor("ada"), site.visitor("bob")
    take_part(ada, bob)
    send(site, ada, clock, 13.5, "vector-add", 2e-4)
    send(site, bob, clock, 13.6, "vector-add", 3e-4)
    send(site, bob, clock, 14.0, "vector-add", 1e-4)
    assert standings(ada) == standings(site.app.test_client()) == [(1, "ada", 1.0), (2, "bob", 2.0)]
    assert standings(bob) == standings(teacher) == [(1, "bob", 1.0), (2, "ada", 2.0)]
    assert "Frozen at 14:00" in ada.get(PAGE).text
    save(teacher, clock, f"{PAGE}/edit", revealed="y", **freeze)
    assert standings(ada) == [(1, "bob", 1.0), (2, "ada", 2.0)]


def test_sources_are_opened_to_members_after_the_end_and_to_nobody_else(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    save(teacher, clock, opens_sources="y")
    ada, bob, eve = (site.visitor(name) for name in ("ada", "bob", "eve"))
    take_part(ada, bob)
    counted = send(site, bob, clock, 13.5, "vector-add", 2e-4)
    late = send(site, bob, clock, 15.5, "vector-add", 1e-4)
    clock.now = clock.at(14.9)
    assert ada.get(f"/submissions/{counted}").status_code == 404
    clock.now = clock.at(15)
    assert ada.get(f"/submissions/{counted}").status_code == 200
    assert f'href="/submissions/{counted}"' in ada.get(PAGE).text
    assert f'href="/submissions/{counted}"' not in eve.get(PAGE).text
    assert ada.get(f"/submissions/{late}").status_code == 404
    assert eve.get(f"/submissions/{counted}").status_code == 404
    assert post(ada, f"/submissions/{counted}/cancel", {}, page="/account/").status_code == 404


def test_the_organizer_reads_all_that_counts_at_any_time_and_nobody_else_does(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    save(teacher, clock, frozen_at=clock.field(14))
    ada, bob = site.visitor("ada"), site.visitor("bob")
    tom = promoted(site, "tom", Role.TEACHER)
    take_part(ada, bob)
    early = send(site, ada, clock, 12.5, "vector-add", 4e-4)
    counted = send(site, ada, clock, 13.5, "vector-add", 2e-4)
    frozen = send(site, bob, clock, 14.5, "softmax", 1e-4)
    late = send(site, ada, clock, 15.5, "vector-add", 1e-4)
    page = f"{PAGE}/submissions"
    for hour in (14.6, 16):
        clock.now = clock.at(hour)
        shown = teacher.get(page).text
        assert [name in shown for name in (early, counted, frozen, late)] == [False, True, True, False]
        assert f'href="/submissions/{counted}"' in teacher.get(PAGE).text
        for public_id in (counted, frozen):
            assert teacher.get(f"/submissions/{public_id}").status_code == 200
            assert teacher.get(f"/submissions/{public_id}/kernel.cu").status_code == 200
            assert tom.get(f"/submissions/{public_id}").status_code == 404
        for public_id in (early, late):
            assert teacher.get(f"/submissions/{public_id}").status_code == 404
        for client in (ada, bob, tom):
            assert client.get(page).status_code == 404
    assert frozen in teacher.get(f"{page}?user=BOB").text
    assert counted not in teacher.get(f"{page}?user=bob").text
    assert "No submission matches" in teacher.get(f"{page}?challenge=softmax&verdict=WA").text
    with site.database() as session:
        user = find_user(session, "teacher")
        assert user is not None
        user.role = Role.USER
    assert teacher.get(f"/submissions/{counted}").status_code == 404, "who is no longer a teacher holds no contest"


def test_points_are_earned_against_targets(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    targets = {"scoring": "targets", "targets": "vector-add=0.15ms, softmax=300µs"}
    assert save(teacher, clock, **targets).status_code == 303
    ada, bob = site.visitor("ada"), site.visitor("bob")
    take_part(ada, bob)
    send(site, ada, clock, 13.5, "vector-add", 1e-4)
    send(site, bob, clock, 13.5, "vector-add", 2e-4)
    send(site, bob, clock, 13.5, "softmax", 4e-4)
    assert standings(ada) == [(1, "bob", 150.0), (2, "ada", 100.0)]
    assert "100 points at 300" in ada.get(PAGE).text
    assert 'value="vector-add=150us softmax=300us"' in teacher.get(f"{PAGE}/edit").text
    assert ada.get(f"{PAGE}/standings.json").get_json()["targets_s"]["softmax"] == 3e-4


def test_the_edges_of_time_are_those_of_the_contest_as_it_is_now(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    save(teacher, clock, challenges="vector-add")
    ada = site.visitor("ada")
    take_part(ada)
    moment = timedelta(microseconds=1).total_seconds() / 3600
    send(site, ada, clock, 13 - moment, "vector-add", 1e-4)
    assert standings(ada) == [(1, "ada", 0.0)]
    send(site, ada, clock, 15, "vector-add", 1e-4)
    assert standings(ada) == [(1, "ada", 0.0)]
    last = send(site, ada, clock, 15 - moment, "vector-add", 2e-4)
    assert standings(ada) == [(1, "ada", 1.0)]
    # It ends earlier, then later again: what arrived in between is neither lost nor counted twice.
    save(teacher, clock, f"{PAGE}/edit", challenges="vector-add", ends_at=clock.field(14))
    assert standings(ada) == [(1, "ada", 0.0)]
    save(teacher, clock, f"{PAGE}/edit", challenges="vector-add", ends_at=clock.field(16))
    result = ada.get(f"{PAGE}/standings.json").get_json()["standings"][0]["results"]["vector-add"]
    assert result["value"] == 1e-4
    save(teacher, clock, f"{PAGE}/edit", challenges="vector-add")
    result = ada.get(f"{PAGE}/standings.json").get_json()["standings"][0]["results"]["vector-add"]
    assert result["value"] == 2e-4
    assert "It counts in" in ada.get(f"/submissions/{last}").text


def test_a_clock_that_is_set_back_reopens_nothing_that_was_sent_late(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    save(teacher, clock, challenges="vector-add", opens_sources="y")
    ada, bob = site.visitor("ada"), site.visitor("bob")
    take_part(ada, bob)
    counted = send(site, bob, clock, 14, "vector-add", 2e-4)
    send(site, bob, clock, 15.1, "vector-add", 1e-4)
    assert ada.get(f"/submissions/{counted}").status_code == 200
    clock.now = clock.at(14.5)
    assert ada.get(f"/submissions/{counted}").status_code == 404  # it runs again, so sources are closed
    result = ada.get(f"{PAGE}/standings.json").get_json()["standings"][0]["results"]["vector-add"]
    assert result["value"] == 2e-4
    send(site, ada, clock, 14.5, "vector-add", 1.5e-4)
    assert standings(ada)[0] == (1, "ada", 1.0)


def test_a_member_who_leaves_takes_the_places_along_and_brings_them_back(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    save(teacher, clock, challenges="vector-add", scoring="places")
    ada, bob = site.visitor("ada"), site.visitor("bob")
    take_part(ada, bob)
    send(site, ada, clock, 13.5, "vector-add", 1e-4)
    send(site, bob, clock, 13.5, "vector-add", 2e-4)
    assert standings(bob) == [(1, "ada", 1.0), (2, "bob", 2.0)]
    post(ada, f"{PAGE}/leave", {}, page=PAGE)
    assert standings(bob) == [(1, "bob", 1.0)]
    take_part(ada)
    assert standings(bob) == [(1, "ada", 1.0), (2, "bob", 2.0)]
    clock.now = clock.at(15)
    assert post(ada, f"{PAGE}/leave", {}, page="/account/").status_code == 409


def test_a_team_has_the_best_of_its_members(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    freeze = {"challenges": "vector-add softmax", "scoring": "points", "frozen_at": clock.field(14), "team_size": "2"}
    assert save(teacher, clock, **freeze).status_code == 303
    ada, bob, cy, dan = (site.visitor(name) for name in ("ada", "bob", "cy", "dan"))

    def join(client: FlaskClient, **form: str) -> str:
        return post(client, f"{PAGE}/join", form, page=PAGE, follow_redirects=True).text

    def table(client: FlaskClient) -> list[tuple[str, float]]:
        return [(row["team"], row["total"]) for row in client.get(f"{PAGE}/standings.json").get_json()["standings"]]

    assert "name has 1 to 40" in join(ada)
    found = re.search(r'<b class="mono">([a-z2-9]{10})</b>', join(ada, team_name=" The  <b>lions "))
    assert found is not None
    # What was typed stays, with what is wrong beside it.
    refused = join(bob, team_name="THE <B>LIONS")
    assert re.search(
        r'id="team_name"[^>]* value="THE &lt;B&gt;LIONS">\s*<div[^>]*><p class="wrong">[^<]*is taken', refused
    )
    assert "The name dan is taken" in join(bob, team_name="dan")
    assert "No team of this contest has this code" in join(bob, team_code="nonsense")
    assert "&lt;b&gt;lions</b>: ada, bob." in join(bob, team_code=found[1].upper())
    assert "is full: a team has at most 2 members" in join(cy, team_code=found[1])
    join(cy, team_name="Tigers")
    send(site, ada, clock, 13.5, "vector-add", 2e-4)
    send(site, bob, clock, 13.5, "vector-add", 1e-4)
    send(site, ada, clock, 13.5, "softmax", 1e-4)
    send(site, cy, clock, 13.5, "vector-add", 1e-4)
    send(site, cy, clock, 14.5, "softmax", 1e-4)
    lions = "The <b>lions"
    assert table(ada) == [(lions, 200.0), ("Tigers", 100.0)]
    assert table(cy) == [(lions, 200.0), ("Tigers", 200.0)]
    send(site, bob, clock, 14.6, "softmax", 5e-5)
    assert table(ada) == [(lions, 200.0), ("Tigers", 100.0)]  # bob's is her own team's, so she sees it
    assert dict(table(cy))["Tigers"] == 200.0
    # Who leaves takes the results along, to another team too; an empty team has no row.
    post(bob, f"{PAGE}/leave", {}, page=PAGE)
    assert dict(table(teacher)) == {lions: 150.0, "Tigers": 200.0}
    post(cy, f"{PAGE}/leave", {}, page=PAGE)
    join(bob, team_name="Wolves")
    assert dict(table(teacher)) == {lions: 100.0, "Wolves": 200.0}
    assert dan.get(f"{PAGE}/standings.csv").text.startswith("rank,team,total")
    # Without teams everybody stands alone again.
    save(teacher, clock, f"{PAGE}/edit", **{**freeze, "team_size": ""})
    assert {name for _, name, _ in standings(teacher)} == {"ada", "bob"}


def test_a_code_is_asked_for_and_a_member_can_leave(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    save(teacher, clock, code="tea time")
    ada = site.visitor("ada")

    def join(code: str) -> str:
        return post(ada, f"{PAGE}/join", {"code": code}, page=PAGE, follow_redirects=True).text

    assert re.search(
        r'id="code"[^>]* value="coffee">\s*<div[^>]*><p class="wrong">That is not the code', join("coffee")
    )
    assert "tea time" not in join("")
    assert standings(ada) == []
    assert "organizer reads what those who take part send" in ada.get(PAGE).text
    joined = join(" tea time ")
    assert "You take part" in joined
    assert "The organizer reads what you send to these challenges" in joined
    assert standings(ada) == [(1, "ada", 0.0)]
    post(ada, f"{PAGE}/leave", {}, page=PAGE)
    assert standings(ada) == []
    clock.now = clock.at(15)
    assert post(ada, f"{PAGE}/join", {"code": "tea time"}, page="/account/").status_code == 409


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"title": ""}, "Give it a title."),
        ({"slug": "A B"}, "Small letters, digits and dashes"),
        ({"challenges": "vector-ad"}, "There is no challenge vector-ad. Nearest: vector-add"),
        ({"challenges": " , "}, "Name at least one challenge."),
        ({"devices": "gpu-of-dreams"}, "gpu-of-dreams"),
        ({"ends_at": "2026-03-01T12:30"}, "The end must be after the start."),
        ({"frozen_at": "2026-03-02T12:30"}, "between the start and the end"),
        ({"starts_at": "soon"}, "Not a valid datetime value."),
        ({"scoring": "luck"}, "Not a valid choice."),
        ({"scoring": "targets", "targets": "vector-add=1ms"}, "softmax needs a target, such as softmax=120us."),
        ({"targets": "vector-add 1ms"}, "vector-add is not a target. Write a challenge and a time"),
        ({"targets": "reduction=1ms"}, "reduction is not one of this contest"),
        ({"targets": "softmax=0us"}, "the time must be more than 0"),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    teacher: FlaskClient, clock: Clock, changes: dict[str, str], says: str
) -> None:
    answer = save(teacher, clock, **changes)
    assert answer.status_code == 422
    assert says in answer.text
    assert "Bring *tea*." in answer.text


def test_who_may_make_and_change_them(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    save(teacher, clock)
    assert "Another contest has this address." in save(teacher, clock).text
    ada = site.visitor("ada")
    assert ada.get("/contests/new").status_code == ada.get(f"{PAGE}/edit").status_code == 404
    promoted(site, "ada", Role.TEACHER)
    assert "New contest" in ada.get("/contests/").text
    assert ada.get("/contests/new").status_code == 200
    assert ada.get(f"{PAGE}/edit").status_code == 404
    promoted(site, "ada", Role.OPERATOR)
    assert 'value="vector-add softmax"' in ada.get(f"{PAGE}/edit").text


def test_long_standings_come_in_pages(
    site: Site, teacher: FlaskClient, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contest_pages, "PAGE", 2)
    save(teacher, clock)
    users = {name: site.visitor(name) for name in ("ada", "bob", "cy")}
    take_part(*users.values())
    for name, value in (("ada", 3e-4), ("bob", 2e-4), ("cy", 1e-4)):
        send(site, users[name], clock, 13.5, "vector-add", value)

    def shown(page: str) -> list[str]:
        return re.findall(r'<td class="who"><a [^>]*>(\w+)<', users["ada"].get(page).text)

    assert [shown(f"{PAGE}?page={number}") for number in ("1", "2", "9", "x")] == [
        ["cy", "bob"], ["ada"], ["ada"], ["cy", "bob"],
    ]  # fmt: skip
    assert "You: 3 of 3" in users["ada"].get(PAGE).text
    assert "You: " not in users["cy"].get(PAGE).text
    assert "The first 2 of 3" in users["ada"].get(f"{PAGE}/screen").text
    assert len(standings(users["ada"])) == 3


def test_large_standings_are_kept_but_for_what_the_viewer_may_see(
    site: Site, teacher: FlaskClient, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contest_standings, "_MANY_MEMBERS", 1)
    save(teacher, clock, frozen_at=clock.field(14))
    ada, bob = site.visitor("ada"), site.visitor("bob")
    take_part(ada, bob)
    send(site, ada, clock, 13.1, "vector-add", 2e-4)
    send(site, bob, clock, 13.1, "vector-add", 3e-4)
    clock.now = clock.at(13.2)
    assert standings(ada) == [(1, "ada", 1.0), (2, "bob", 1.5)]
    send(site, bob, clock, 13.2, "vector-add", 1e-4)
    assert standings(ada) == [(1, "ada", 1.0), (2, "bob", 1.5)]  # kept
    clock.now += 3 * KEEP
    assert standings(ada) == [(1, "bob", 1.0), (2, "ada", 2.0)]
    send(site, ada, clock, 14.5, "vector-add", 0.5e-4)
    assert standings(ada) == standings(teacher) == [(1, "ada", 1.0), (2, "bob", 2.0)]
    assert standings(bob) == standings(site.app.test_client()) == [(1, "bob", 1.0), (2, "ada", 2.0)]
    save(teacher, clock, f"{PAGE}/edit", frozen_at=clock.field(14), challenges="softmax")
    assert standings(bob) == [(1, "ada", 0.0), (1, "bob", 0.0)]  # a change shows at once


def test_a_time_that_is_left_out_is_told_at_its_field(teacher: FlaskClient, clock: Clock) -> None:
    save(teacher, clock)
    given = {**FORM, "ends_at": clock.field(15), "frozen_at": clock.field(14)}
    answer = post(teacher, f"{PAGE}/edit", given)
    assert answer.status_code == 422
    assert "Say when it starts." in answer.text


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:9000/hook",
        "https://[::1]/",
        "https://10.1.2.3/",
        "http://localhost/",
        "http://169.254.169.254/x",
    ],
)
def test_a_webhook_outside_the_public_internet_is_refused_when_it_is_saved(
    site: Site, teacher: FlaskClient, clock: Clock, address: str
) -> None:
    refused = save(teacher, clock, webhook_url=address)
    assert refused.status_code == 422
    assert "is not on the public internet" in refused.text
    assert site.app.test_client().get(PAGE).status_code == 404  # nothing was saved
    assert save(teacher, clock, webhook_url="https://93.184.215.14/hook").status_code == 303
    assert save(teacher, clock, f"{PAGE}/edit", webhook_url=address).status_code == 422


def test_a_webhook_may_be_private_where_the_operator_allows_it(data_dir: Path, clock: Clock) -> None:
    site = make_site(data_dir, clock=clock, webhook_private=True)
    site.add_device(H200)
    teacher = promoted(site, "teacher", Role.TEACHER)
    assert save(teacher, clock, webhook_url="http://127.0.0.1:9000/hook").status_code == 303


def test_standings_count_tries_and_those_of_others_only_until_the_freeze(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    save(teacher, clock, frozen_at=clock.field(14))
    ada, bob = site.visitor("ada"), site.visitor("bob")
    take_part(ada, bob)
    send(site, ada, clock, 12.9, "vector-add", 9e-4)  # before the start
    for hour in (13.1, 13.2, 14.5):
        send(site, ada, clock, hour, "vector-add", 3e-4)

    def tries(client: FlaskClient) -> dict[str, dict[str, int]]:
        return {row["user"]: row["tries"] for row in client.get(f"{PAGE}/standings.json").get_json()["standings"]}

    none = {"vector-add": 0, "softmax": 0}
    assert tries(bob) == {"ada": {**none, "vector-add": 2}, "bob": none}
    assert tries(ada) == tries(teacher) == {"ada": {**none, "vector-add": 3}, "bob": none}
    assert "2 tries" in bob.get(PAGE).text


def test_a_projector_shows_the_standings_alone(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    save(teacher, clock)
    page = site.app.test_client().get(f"{PAGE}/screen").text
    assert "Friday &lt;night&gt;" in page
    assert "<header" not in page
    assert "<footer" not in page
    assert "<header" in site.app.test_client().get(PAGE).text


def test_a_dry_run_leaves_no_trace_in_the_standings(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    save(teacher, clock)
    ada = site.visitor("ada")
    take_part(ada, teacher)
    clock.now = clock.at(13.5)
    before = standings(ada)
    assert "none yet" in teacher.get(f"{PAGE}/trial").text
    assert post(teacher, f"{PAGE}/trial", {}).status_code == 303
    for _ in range(2):
        site.work(device=H200, cases=accepted("n-1"), measurement=timed(1e-4))
    shown = teacher.get(f"{PAGE}/trial").text
    assert shown.count('href="/submissions/') == 2
    assert "none yet" not in shown
    with site.database() as session:
        assert {(each.challenge, each.mode) for each in session.query(Submission)} == {
            ("vector-add", "run"), ("softmax", "run"),
        }  # fmt: skip
    assert standings(ada) == before
    assert ada.get(f"{PAGE}/trial").status_code == 404


def test_a_copy_begins_with_the_values_and_an_empty_contest_can_be_deleted(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    save(teacher, clock, code="tea")
    form = teacher.get("/contests/new?copy=friday").text
    assert 'value="tea"' in form
    assert 'value="friday"' not in form
    ada = site.visitor("ada")
    post(ada, f"{PAGE}/join", {"code": "tea"}, page=PAGE)
    assert post(teacher, f"{PAGE}/delete", {}, page=f"{PAGE}/edit").status_code == 409
    post(ada, f"{PAGE}/leave", {}, page=PAGE)
    assert post(teacher, f"{PAGE}/delete", {}, page=f"{PAGE}/edit").location == "/contests/"
    assert ada.get(PAGE).status_code == 404


@pytest.mark.parametrize(
    ("begins", "ends", "hours"),
    [
        ("2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00", 1),
        ("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", 1),
        ("2026-10-24T12:00:00+02:00", "2026-10-25T12:00:00+01:00", 25),
        ("2026-10-25T02:30:00+01:00", "2026-10-25T02:45:00+02:00", None),
    ],
    ids=["spring", "the same time twice", "a day of 25 hours", "back"],
)
def test_a_contest_across_a_change_of_the_clocks_lasts_as_long_as_it_does(
    site: Site, teacher: FlaskClient, clock: Clock, begins: str, ends: str, hours: int | None
) -> None:
    start, end = datetime.fromisoformat(begins), datetime.fromisoformat(ends)
    clock.now = start.astimezone(UTC) - timedelta(hours=3)
    site.add_device(H200)
    ada = site.visitor("ada")
    body = {
        "title": "Friday", "slug": "friday", "challenges": ["vector-add"], "devices": [H200.key],
        "starts_at": begins, "ends_at": ends,
    }  # fmt: skip
    headers = {"Authorization": f"Bearer {site.token_of('teacher')}"}
    answer = teacher.post("/api/v1/contests", json=body, headers=headers)
    if hours is None:
        assert (answer.status_code, answer.get_json()["fields"].keys()) == (422, {"ends_at"})
        return
    assert end - start == timedelta(hours=hours)
    assert answer.get_json()["starts_at"] == start.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    take_part(ada)
    for moment, state in ((start, "running"), (end - timedelta(seconds=1), "running"), (end, "ended")):
        clock.now = moment.astimezone(UTC)
        assert ada.get("/api/v1/contests/friday", headers=headers).get_json()["state"] == state
    counted = send(site, ada, clock, (end - clock.at(0)).total_seconds() / 3600 - 0.01, "vector-add", 1e-4)
    assert "It counts in" in ada.get(f"/submissions/{counted}").text
