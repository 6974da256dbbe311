"""A class from its making to its grades, with the clock of the server."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, text

from judge.packs.medals import Medals
from judge.packs.steps import plain_time_s
from judge.tracks.loader import builtin_tracks
from store.models import OperatorAction, ReachedGoal, Role, Submission
from tests.integration.web.timed_site import Clock, promoted
from tests.unit.judge.compile.test_likeness import KERNEL, OTHER, disguised
from tests.web_site import H200, PASSWORD, Site, accepted, post, trusted, wrong

PAGE = "/classes/1"
WORK = f"{PAGE}/assignments/1"
FORM = {"title": "Sums <1>", "challenges": "vector-add, softmax", "counts": "accepted", "device": H200.key}


@pytest.fixture
def site(timed_site: Site) -> Site:
    return timed_site


@pytest.fixture
def teacher(site: Site) -> FlaskClient:
    client = promoted(site, "euler", Role.TEACHER)
    data = {"title": "CUDA <spring>", "description": "Bring *tea*."}
    assert post(client, "/classes/new", data).location == PAGE
    return client


def assign(teacher: FlaskClient, clock: Clock, page: str = f"{PAGE}/assignments/new", **changes: str) -> Any:
    """Saves an assignment from 13:00 to 15:00."""
    return post(teacher, page, {**FORM, "opens_at": clock.field(13), "due_at": clock.field(15), **changes})


def code(teacher: FlaskClient) -> str:
    found = re.search(r'<b class="mono">([a-z2-9]{10})</b>', teacher.get(PAGE).text)
    assert found is not None
    return found[1]


def join(client: FlaskClient, code: str, known_as: str) -> Any:
    return post(client, f"/classes/join?code={code}", {"code": code, "known_as": known_as})


def send(
    site: Site, client: FlaskClient, clock: Clock, hour: float, slug: str, *, good: bool = True, **more: Any
) -> str:
    """Submits at an hour of the day, and returns the submission's id."""
    data = {"source": more.pop("source", f"// {hour}"), "device": H200.key, "mode": more.pop("mode", "submit")}
    answer = post(client, f"/challenges/{slug}/submissions", data, page=f"/challenges/{slug}")
    public_id = str(answer.location).rsplit("/", 1)[1]
    with site.database() as session:
        session.query(Submission).filter_by(public_id=public_id).update({"created_at": clock.at(hour)})
    site.work(device=H200, cases=accepted("n-1") if good else (wrong("n-1"),), measurement=more.get("measurement"))
    return public_id


def table(client: FlaskClient, page: str) -> list[list[str]]:
    answer = client.get(page)
    assert answer.status_code == 200
    return list(csv.reader(io.StringIO(answer.text)))


def test_from_its_making_to_the_grades(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    assert assign(teacher, clock).location == WORK
    ada, bob = site.visitor("ada"), site.visitor("bob")
    assert "Join CUDA &lt;spring&gt;" in ada.get(f"/classes/join?code={code(teacher)}").text
    join(ada, code(teacher), "Lovelace, Ada")
    join(bob, f" {code(teacher).upper()} ", "Bob")
    assert "Sums" not in ada.get(PAGE).text  # it is not open yet
    assert ada.get(WORK).status_code == 404
    send(site, ada, clock, 12.9, "vector-add")  # before it opens
    clock.now = clock.at(13)
    send(site, ada, clock, 13.1, "vector-add", good=False)
    send(site, ada, clock, 13.2, "vector-add", mode="run")
    first = send(site, ada, clock, 13.3, "vector-add")
    send(site, ada, clock, 13.4, "vector-add")
    late = send(site, ada, clock, 15, "softmax")
    send(site, bob, clock, 14.99, "softmax")
    assert table(teacher, f"{PAGE}/grades.csv") == [
        ["name", "user", "section", "Sums <1> (of 2)", "Sums <1> points (of 100)", "total %"],
        ["Bob", "bob", "", "1", "50", ""],
        ["Lovelace, Ada", "ada", "", "1", "50", ""],
    ]
    rows = {row[1]: row for row in table(teacher, f"{WORK}/grades.csv")}
    assert rows["ada"][4:] == [
        "1", "50", "counts", clock.at(13.3).isoformat(), first, "50", "late", clock.at(15).isoformat(), late, "0",
    ]  # fmt: skip
    assert rows["bob"][4:9] == ["1", "50", "", "", ""]
    clock.now = clock.at(15.5)
    page = ada.get(PAGE).text
    assert "1 of 2" in page
    assert "Sums &lt;1&gt;" in page
    assert "<em>tea</em>" in page
    assert f"/submissions/{late}" in ada.get(WORK).text
    with site.database() as session:
        actions = [row.action for row in session.query(OperatorAction).order_by(OperatorAction.id)]
        assert actions == ["class made", "assignment made"]


def test_an_extension_is_for_one_person(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    assign(teacher, clock, challenges="softmax")
    ada, bob = site.visitor("ada"), site.visitor("bob")
    join(ada, code(teacher), "Ada")
    join(bob, code(teacher), "Bob")
    for client in (ada, bob):
        send(site, client, clock, 15.5, "softmax")
    extension = {"usernames": "Ada", "due_at": clock.field(16)}
    assert post(teacher, f"{WORK}/extensions", extension, page=WORK).status_code == 303
    assert [row[3] for row in table(teacher, f"{PAGE}/grades.csv")[1:]] == ["1", "0"]
    clock.now = clock.at(15.6)
    assert "16:00</time> UTC</b> for you" in ada.get(WORK).text
    assert "16:00" not in bob.get(WORK).text
    post(teacher, f"{WORK}/extensions", {"usernames": "ada", "due_at": ""}, page=WORK)
    assert [row[3] for row in table(teacher, f"{PAGE}/grades.csv")[1:]] == ["0", "0"]
    assert post(teacher, f"{WORK}/extensions", {"usernames": "eve"}, page=WORK).status_code == 422
    assert post(teacher, f"{WORK}/extensions", {"usernames": "ada", "due_at": "soon"}, page=WORK).status_code == 422


@pytest.mark.parametrize(
    ("counts", "percent", "counted"),
    [("roofline", "72", "1"), ("roofline", "73", "0"), ("best", "50", "1"), ("best", "51", "0")],
)
def test_a_share_of_the_speed_counts(
    site: Site, teacher: FlaskClient, clock: Clock, counts: str, percent: str, counted: str
) -> None:
    assign(teacher, clock, challenges="softmax", counts=counts, least_percent=percent)
    ada, eve = site.visitor("ada"), site.visitor("eve")
    join(ada, code(teacher), "Ada")
    send(site, ada, clock, 14, "softmax")  # accepted, but not timed
    send(site, ada, clock, 14, "softmax", measurement=trusted(1.25e-4))  # 72 % of the roofline
    send(site, eve, clock, 14, "softmax", measurement=trusted(6.25e-5))  # not of the class, but on the board
    assert table(teacher, f"{PAGE}/grades.csv")[1][:4] == ["Ada", "ada", "", counted]


@pytest.mark.parametrize(("counts", "counted"), [("bronze", "1"), ("silver", "1"), ("gold", "0")])
def test_a_medal_counts(site: Site, teacher: FlaskClient, clock: Clock, counts: str, counted: str) -> None:
    packs = dict(site.services.all_packs)
    for slug, medals in (("softmax", Medals(0.5, 0.72, 0.73)), ("vector-add", None)):
        bench = dataclasses.replace(packs[slug].bench, medals=medals)
        packs[slug] = dataclasses.replace(packs[slug], bench=bench, default_medals={})
    object.__setattr__(site.services, "all_packs", packs)
    assert "vector-add has no medals: choose what else counts." in assign(teacher, clock, counts=counts).text
    assert assign(teacher, clock, challenges="softmax", counts=counts).status_code == 303
    ada = site.visitor("ada")
    join(ada, code(teacher), "Ada")
    send(site, ada, clock, 14, "softmax")  # accepted, but not timed
    send(site, ada, clock, 14, "softmax", measurement=trusted(1.25e-4))  # 72 % of the roofline
    assert table(teacher, f"{PAGE}/grades.csv")[1][:4] == ["Ada", "ada", "", counted]


@pytest.mark.parametrize(("times", "points"), [("2", "100"), ("2.01", "40")])
def test_a_multiple_of_the_plain_kernels_speed_earns_the_points(
    site: Site, teacher: FlaskClient, clock: Clock, times: str, points: str
) -> None:
    plain_s = plain_time_s(site.services.all_packs["softmax"], device=H200.key, metric="time_s")
    assert plain_s is not None
    terms = {"counts": "plain", "times": times, "accepted_percent": "40"}
    assert assign(teacher, clock, challenges="softmax", **terms).location == WORK
    assert f'value="{float(times)}"' in teacher.get(f"{WORK}/edit").text
    ada = site.visitor("ada")
    join(ada, code(teacher), "Ada")
    send(site, ada, clock, 14, "softmax", measurement=trusted(plain_s / 2))
    clock.now = clock.at(16)
    assert table(teacher, f"{PAGE}/grades.csv")[1][4:] == [points, f"{float(points):.2f}"]
    page = ada.get(WORK).text
    assert f"at least {times} times as fast as the plain kernel of ours" in page
    assert f"<b>{points}</b>" in page
    assert ("short of the target: 40 %" in page) == (points == "40")


def test_the_goal_of_the_track_earns_the_points(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    goal = builtin_tracks().goal_of("softmax")
    assert goal is not None
    assert assign(teacher, clock, challenges="softmax", counts="goal", accepted_percent="25").location == WORK
    ada = site.visitor("ada")
    join(ada, code(teacher), "Ada")
    sent = site.submission(send(site, ada, clock, 14, "softmax"))
    assert table(teacher, f"{PAGE}/grades.csv")[1][3:5] == ["0", "25"]
    row = ReachedGoal(submission_id=sent.id, user_id=sent.user_id, challenge="softmax", reached_at=clock(), goal="old")
    with site.database() as session:
        session.add(row)
    assert table(teacher, f"{PAGE}/grades.csv")[1][3:5] == ["0", "25"]  # of another goal than the present one
    with site.database() as session:
        session.query(ReachedGoal).update({"goal": goal.key})
    assert table(teacher, f"{PAGE}/grades.csv")[1][3:5] == ["1", "100"]


def test_late_days_cost_and_the_lowest_is_dropped(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    for challenge in ("softmax", "vector-add"):
        assign(teacher, clock, challenges=challenge, late_percent="10", weight="3" if challenge == "softmax" else "1")
    ada = site.visitor("ada")
    join(ada, code(teacher), "Ada")
    send(site, ada, clock, 15 + 24, "softmax")  # the second day begins
    send(site, ada, clock, 15 + 24 - 0.01, "vector-add")
    clock.now = clock.at(40)
    assert table(teacher, f"{PAGE}/grades.csv")[1][3:] == ["0", "0", "80", "90", "82.50"]
    assert "2 days late: −20 %" in ada.get(WORK).text
    assert "<b>82.5 %</b>" in ada.get(PAGE).text
    assert post(teacher, f"{PAGE}/edit", {"title": "CUDA", "drops": "1"}).status_code == 303
    assert table(teacher, f"{PAGE}/grades.csv")[1][-1] == "90.00"
    assert "without the lowest 1" in ada.get(PAGE).text


def test_the_teacher_sees_the_work_of_the_class_and_nothing_else(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    assign(teacher, clock)
    ada, eve = site.visitor("ada"), site.visitor("eve")
    other = promoted(site, "gauss", Role.TEACHER)
    join(ada, code(teacher), "Ada")
    before = send(site, ada, clock, 12.9, "vector-add")
    work = send(site, ada, clock, 13.5, "vector-add")
    run = send(site, ada, clock, 13.5, "vector-add", mode="run")
    elsewhere = send(site, ada, clock, 13.5, "reduction")
    strangers = send(site, eve, clock, 13.5, "vector-add")

    def seen(client: FlaskClient) -> list[int]:
        return [client.get(f"/submissions/{one}").status_code for one in (work, before, run, elsewhere, strangers)]

    assert seen(teacher) == [200, 404, 404, 404, 404]
    assert seen(other) == [404] * 5
    assert post(teacher, f"/submissions/{work}/cancel", {}, page="/account/").status_code == 404
    assert [other.get(page).status_code for page in (PAGE, WORK, f"{PAGE}/grades.csv", f"{PAGE}/edit")] == [404] * 4
    assert [ada.get(page).status_code for page in (f"{PAGE}/grades.csv", f"{WORK}/grades.csv")] == [404] * 2
    assert post(ada, f"{WORK}/delete", {}, page=PAGE).status_code == 404
    promoted(site, "euler", Role.USER)
    assert seen(teacher) == [404] * 5
    promoted(site, "euler", Role.TEACHER)
    assert post(ada, f"{PAGE}/leave", {}, page=PAGE).status_code == 303
    assert seen(teacher) == [404] * 5
    assert ada.get(PAGE).status_code == 404
    join(ada, code(teacher), "Ada")
    assert table(teacher, f"{PAGE}/grades.csv")[1][3] == "1"


def test_a_copy_in_disguise_is_named(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    assign(teacher, clock)
    for name, source in (("ada", KERNEL), ("bob", disguised(KERNEL)), ("cy", OTHER)):
        client = site.visitor(name)
        join(client, code(teacher), name.title())
        send(site, client, clock, 14, "vector-add", source=source)
    page = teacher.get(f"{WORK}/similarity?challenge=vector-add").text
    rows = re.findall(
        r"<td class=\"number\"[^>]*>([\d.]+ %)</td><td[^>]*>.*?>(\w+)</a>.*?>(\w+)</a>.*?href=\"([^\"]*compare[^\"]*)",
        page,
    )
    assert [(row[0], {row[1], row[2]}) for row in rows] == [("100.0 %", {"Ada", "Bob"})]
    assert teacher.get(rows[0][3].replace("&amp;", "&")).status_code == 200
    assert "No two of the 0 sources" in teacher.get(f"{WORK}/similarity?challenge=softmax").text
    assert teacher.get(f"{WORK}/similarity?challenge=reduction").status_code == 404
    assert site.visitor("ada").get(f"{WORK}/similarity").status_code == 404


def test_hints_are_hidden_from_all_but_teachers_until_the_last_deadline(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    ada, eve = site.visitor("ada"), site.visitor("eve")
    join(ada, code(teacher), "Ada")
    slug = next(
        slug
        for slug, pack in site.services.all_packs.items()
        if "\n## Hints" in (pack.directory / "statement.md").read_text()
    )
    assign(teacher, clock, challenges=slug)

    def shown() -> dict[str, bool]:
        pages = {"teacher": teacher, "ada": ada, "eve": eve, "nobody": site.app.test_client()}
        found = {name: "<h2>Hints</h2>" in client.get(f"/challenges/{slug}").text for name, client in pages.items()}
        statement = site.app.test_client().get(f"/api/v1/challenges/{slug}").get_json()["statement"]
        return {**found, "api": "Hints" in statement}

    everybody, only_teacher = dict.fromkeys(shown(), True), {**dict.fromkeys(shown(), False), "teacher": True}
    assert shown() == everybody
    tag = site.app.test_client().get(f"/api/v1/challenges/{slug}").headers["ETag"]
    clock.now = clock.at(13)
    assert shown() == only_teacher
    # Who has the whole statement from before is not told that it is the present one.
    again = site.app.test_client().get(f"/api/v1/challenges/{slug}", headers={"If-None-Match": tag})
    assert again.status_code == 200
    assert "Its hints are hidden until" in eve.get(f"/challenges/{slug}").text
    post(ada, f"{PAGE}/leave", {}, page=PAGE)
    assert shown() == only_teacher
    join(ada, code(teacher), "Ada")
    clock.now = clock.at(15)
    assert shown() == everybody
    post(teacher, f"{WORK}/extensions", {"usernames": "ada", "due_at": clock.field(16)}, page=WORK)
    assert shown() == only_teacher
    clock.now += timedelta(hours=2)
    assert shown() == everybody
    clock.now = clock.at(13)
    assign(teacher, clock, f"{WORK}/edit", challenges=slug, shows_hints="y")
    assert shown() == everybody


def test_a_new_code_shuts_the_old_one_and_a_removed_member_is_out(site: Site, teacher: FlaskClient) -> None:
    ada, bob = site.visitor("ada"), site.visitor("bob")
    old = code(teacher)
    assert join(ada, old, "Ada").location == PAGE
    post(teacher, f"{PAGE}/code", {}, page=PAGE)
    assert code(teacher) != old
    refused = join(bob, old, "Bob")
    assert refused.status_code == 422
    assert "No class has this code." in refused.text
    assert ada.get(PAGE).status_code == 200
    assert code(teacher) not in ada.get(PAGE).text
    assert post(teacher, f"{PAGE}/members/ada/remove", {}, page=PAGE).status_code == 303
    assert ada.get(PAGE).status_code == 404
    assert post(teacher, f"{PAGE}/members/ada/remove", {}, page=PAGE).status_code == 404


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"title": ""}, "Give it a title."),
        ({"challenges": "softma"}, "There is no challenge softma. Nearest: softmax"),
        ({"due_at": "2026-03-01T13:00"}, "The due date must be after the opening."),
        ({"opens_at": "2026-02-01T13:00"}, "Not before the class was made: 2026-03-01 12:00."),
        ({"counts": "best", "least_percent": ""}, "Say which share counts."),
        ({"counts": "best", "least_percent": "101"}, "A share is from 1 to 100 percent."),
        ({"counts": "plain"}, "Say how many times as fast as the plain kernel."),
        ({"counts": "plain", "times": "0"}, "From 0.1 to 10,000 times."),
        ({"counts": "plain", "times": "2", "device": "emulator"}, "vector-add has no known time of a plain kernel"),
        ({"counts": "goal", "challenges": "adam-step"}, "adam-step has no goal: it is in no track"),
        ({"points": "nan"}, "From 0.01 to 100,000 points."),
        ({"late_percent": "101"}, "A share is from 0 to 100 percent."),
        ({"taken": "none"}, "Not a valid choice"),
        ({"device": "gpu-of-dreams"}, "Not a valid choice"),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    teacher: FlaskClient, clock: Clock, changes: dict[str, str], says: str
) -> None:
    answer = assign(teacher, clock, **changes)
    assert answer.status_code == 422
    assert says in answer.text


@pytest.mark.parametrize("known_as", ["", "=1+1", "+49", "@ada"])
def test_a_name_that_a_spreadsheet_would_compute_is_refused(site: Site, teacher: FlaskClient, known_as: str) -> None:
    ada = site.visitor("ada")
    assert join(ada, code(teacher), known_as).status_code == 422
    assert ada.get(PAGE).status_code == 404


def test_an_assignment_is_changed_and_deleted(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    assign(teacher, clock)
    ada = site.visitor("ada")
    join(ada, code(teacher), "Ada")
    send(site, ada, clock, 14, "softmax")
    assert 'value="vector-add softmax"' in teacher.get(f"{WORK}/edit").text
    assign(teacher, clock, f"{WORK}/edit", challenges="softmax", title="Softly", due_at=clock.field(14))
    assert table(teacher, f"{PAGE}/grades.csv") == [
        ["name", "user", "section", "Softly (of 1)", "Softly points (of 100)", "total %"],
        ["Ada", "ada", "", "0", "0", ""],
    ]
    assert post(teacher, f"{WORK}/delete", {}, page=f"{WORK}/edit").status_code == 303
    assert teacher.get(WORK).status_code == 404
    assert table(teacher, f"{PAGE}/grades.csv") == [["name", "user", "section", "total %"], ["Ada", "ada", "", ""]]


def test_a_closed_account_leaves_its_classes_after_its_export(site: Site, teacher: FlaskClient) -> None:
    ada = site.visitor("ada")
    join(ada, code(teacher), "Lovelace, Ada")
    with ada.get("/account/export") as answer, zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        account = json.loads(archive.read("account.json"))
    assert [(one["title"], one["known_as"]) for one in account["classes"]] == [("CUDA <spring>", "Lovelace, Ada")]
    assert "Lovelace" in teacher.get(PAGE).text
    post(ada, "/account/close", {"confirm_name": "ada", "close_password": PASSWORD}, page="/account/")
    assert "Lovelace" not in teacher.get(PAGE).text


def test_a_deleted_class_takes_its_assignments_and_leaves_submissions(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    ada = site.visitor("ada")
    join(ada, code(teacher), "Ada")
    assign(teacher, clock)
    sent = send(site, ada, clock, 14, "vector-add")
    refused = post(teacher, f"{PAGE}/delete", {"confirm_title": "CUDA"}, page=f"{PAGE}/edit")
    assert refused.status_code == 422
    assert "This is not the title. It is: CUDA &lt;spring&gt;" in refused.text
    assert post(ada, f"{PAGE}/delete", {"confirm_title": "CUDA <spring>"}, page=PAGE).status_code == 404
    gone = post(teacher, f"{PAGE}/delete", {"confirm_title": "CUDA <spring>"}, page=f"{PAGE}/edit")
    assert gone.location == "/classes/"
    assert teacher.get(PAGE).status_code == ada.get(PAGE).status_code == ada.get(WORK).status_code == 404
    assert ada.get(f"/submissions/{sent}").status_code == 200
    with site.database() as session:
        assert (
            session.scalars(select(OperatorAction.action).order_by(OperatorAction.id.desc())).first() == "class deleted"
        )
        for table in ("class_members", "assignments", "assignment_challenges", "assignment_extensions"):
            assert session.scalar(text(f"SELECT count(*) FROM {table}")) == 0


def test_a_time_that_is_left_out_is_told_at_its_field(teacher: FlaskClient, clock: Clock) -> None:
    assign(teacher, clock)
    answer = post(teacher, f"{WORK}/edit", {**FORM, "due_at": clock.field(15)})
    assert answer.status_code == 422
    assert "Say from when on submissions count." in answer.text
