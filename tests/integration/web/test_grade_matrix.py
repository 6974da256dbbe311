"""The grade matrix: its cells, its filters, and how many queries it takes."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, event, insert

from store.models import ClassMember, Measurement, Role, Submission, User
from tests.assignments import add_assignment
from tests.integration.web.test_classes import PAGE, assign, code, join, send
from tests.integration.web.timed_site import Clock, promoted
from tests.web_site import H200, Site, make_site, post, trusted
from web.classes.faults import without_numbers

MATRIX = f"{PAGE}/matrix"
CHALLENGES = ("vector-add", "softmax", "transpose")


@pytest.fixture
def site(timed_site: Site) -> Site:
    return timed_site


@pytest.fixture
def teacher(site: Site) -> FlaskClient:
    client = promoted(site, "euler", Role.TEACHER)
    assert post(client, "/classes/new", {"title": "CUDA", "description": ""}).location == PAGE
    return client


def rows(client: FlaskClient, show: str = "") -> dict[str, list[str]]:
    """Returns the texts of the cells by the member's name, the total first."""
    answer = client.get(f"{MATRIX}?show={show}" if show else MATRIX)
    assert answer.status_code == 200
    body = answer.text.partition('class="matrix"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
        head, *cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        found[head.split()[0]] = [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in cells]
    return found


def said(site: Site, public_id: str, message: str) -> None:
    """Gives a judgement its message, as the engine would have."""
    with site.database() as session:
        found = session.query(Submission).filter_by(public_id=public_id).one()
        assert found.judgement is not None
        object.__setattr__(found.judgement, "message", message)
        judgement, found.judgement = found.judgement, None
        session.flush()
        found.judgement = judgement


def test_a_cell_shows_tries_verdict_time_and_points_and_leads_to_the_attempts(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    assign(teacher, clock)
    ada, bob = site.visitor("ada"), site.visitor("bob")
    join(ada, code(teacher), "Ada")
    join(bob, code(teacher), "Bob")
    send(site, ada, clock, 13.5, "softmax", measurement=trusted(1.25e-4))
    graded = send(site, ada, clock, 13.6, "softmax", measurement=trusted(2.5e-4))
    last = send(site, ada, clock, 13.7, "softmax", good=False)
    clock.now = clock.at(16)
    assert rows(teacher) == {"Ada": ["50.0 %", "–", "50 WA 3 tries · 125 µs"], "Bob": ["0.0 %", "–", "–"]}
    url = re.search(r'href="([^"]+/attempts[^"]+)"', teacher.get(MATRIX).text)
    assert url is not None
    page = teacher.get(url[1]).text
    assert "Attempts of Ada" in page
    assert page.index(f"/submissions/{last}") < page.rindex(f"/submissions/{graded}")
    assert page.count("reaches the target") == 2
    for wrong in ("eve?challenge=softmax", "euler?challenge=softmax", "ada?challenge=transpose"):
        assert teacher.get(f"{PAGE}/assignments/1/attempts/{wrong}").status_code == 404
    assert teacher.get(f"{MATRIX}?show=nobody").status_code == 404
    assert ada.get(url[1]).status_code == 404


def test_stuck_are_three_tries_with_one_message(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    assign(teacher, clock, challenges="softmax", accepted_percent="50", counts="roofline", least_percent="99")
    messages = {
        "ada": ["row 3 is 0x1f2a, not 1.5e-3", "row 17 is 0xff, not 2", "row 4 is 0x1, not 3.25"],
        "bob": ["row 3 is wrong", "row 3 is wrong", "an illegal address"],
        "cy": ["row 3 is wrong", "row 4 is wrong"],
    }
    for name, texts in messages.items():
        client = site.visitor(name)
        join(client, code(teacher), name.title())
        for hour, text in enumerate(texts):
            said(site, send(site, client, clock, 13.5 + hour / 10, "softmax", good=False), text)
    assert rows(teacher, "stuck") == {"Ada": ["", "0 WA 3 tries Row 4 is 0x1, not 3.25"]}
    # Bob's last attempt failed otherwise.
    page = teacher.get(f"{MATRIX}?show=stuck").text
    assert "<h2>Common faults</h2>" not in page
    said(site, send(site, site.visitor("bob"), clock, 13.9, "softmax", good=False), "row 9 is wrong at kernel.cu:12")
    said(site, send(site, site.visitor("cy"), clock, 13.9, "softmax", good=False), "row 8 is wrong at kernel.cu:14")
    page = unescape(re.sub(r"<[^>]*>", "", teacher.get(f"{MATRIX}?show=stuck").text))
    assert "WA Row 8 is wrong at kernel.cu:14" in page
    assert "12, 14" in page
    assert "2: Bob, Cy" in page
    assert "WA Row" not in unescape(re.sub(r"<[^>]*>", "", teacher.get(MATRIX).text))
    # Accepted is not stuck, however often it falls short of the target.
    for hour in (14.1, 14.2, 14.3):
        send(site, site.visitor("ada"), clock, hour, "softmax")
    assert rows(teacher, "stuck") == {}


def test_messages_differ_by_words_not_by_numbers() -> None:
    alike = ["element [3, 17] is 1.5e-05", "element [12, 0] is 2"]
    assert len({without_numbers(each) for each in alike}) == 1
    assert len({without_numbers(each) for each in ["out of bounds write", "out of bounds read"]}) == 2


def test_not_begun_and_late(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    assign(teacher, clock, challenges="vector-add")
    post(
        teacher,
        f"{PAGE}/assignments/new",
        {
            "title": "Next",
            "challenges": "softmax",
            "counts": "accepted",
            "opens_at": clock.field(20),
            "due_at": clock.field(21),
        },
    )
    clients = {}
    for name in ("ada", "bob", "cy"):
        clients[name] = site.visitor(name)
        join(clients[name], code(teacher), name.title())
    send(site, clients["ada"], clock, 15, "vector-add")
    send(site, clients["bob"], clock, 14, "vector-add")
    send(site, clients["bob"], clock, 15.5, "vector-add", good=False)  # what he has in time counts
    clock.now = clock.at(16)
    assert rows(teacher, "late") == {"Ada": ["0.0 %", "0 AC 1 try late", ""]}
    assert rows(teacher, "not-begun") == {"Cy": ["0.0 %", "not begun", ""]}
    clock.now = clock.at(20)
    assert set(rows(teacher, "not-begun")) == {"Ada", "Bob", "Cy"}


def fill(site: Site, clock: Clock, *, students: int, assignments: int, tries: int) -> None:
    """Fills the class; every third student is stuck everywhere."""
    now = clock()
    with site.database() as session:
        for number in range(assignments):
            add_assignment(session, 1, [CHALLENGES[number % 3]], now=now, title=f"Week {number}")
        names = [f"student{number}" for number in range(students)]
        session.execute(
            insert(User), [{"username": n, "username_key": n, "created_at": now, "name_skeleton": n} for n in names]
        )
        ids = [row[0] for row in session.query(User.id).filter(User.username_key.in_(names)).order_by(User.id)]
        session.execute(
            insert(ClassMember),
            [
                {"class_id": 1, "user_id": user, "known_as": name, "joined_at": now}
                for user, name in zip(ids, names, strict=True)
            ],
        )
        sent: list[dict[str, Any]] = []
        for place, user in enumerate(ids):
            for slug in CHALLENGES:
                for number in range(tries):
                    verdict = "WA" if place % 3 == 0 else "AC" if number % 2 else "CE"
                    judgement = {"verdict": verdict, "message": f"row {number} is wrong"}
                    sent.append(
                        {
                            "public_id": f"{user}-{slug[:3]}-{number}", "user_id": user, "challenge": slug,
                            "pack_version": "1.0", "pack_major": 1, "pack_digest": "0", "device_key": H200.key,
                            "mode": "submit", "source_bytes": b"x", "seed": 1, "state": "done", "verdict": verdict,
                            "created_at": now + timedelta(minutes=number), "judgement": judgement,
                        }
                    )  # fmt: skip
        session.execute(insert(Submission.__table__), sent)  # type: ignore[arg-type]
        scores = [
            {
                "submission_id": row.id, "user_id": row.user_id, "challenge": row.challenge, "device_key": H200.key,
                "pack_major": 1, "metric": "time_s", "value": 1e-4, "runs": 1, "spread": 0.0, "created_at": now,
            }
            for row in session.query(Submission.id, Submission.user_id, Submission.challenge).filter_by(verdict="AC")
        ]  # fmt: skip
        session.execute(insert(Measurement), scores)


def queries(client: FlaskClient, page: str) -> list[str]:
    """Returns the statements that a page takes."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        assert client.get(page).status_code == 200
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return seen


def test_two_hundred_students_take_as_many_queries_as_two(tmp_path: Path, clock: Clock) -> None:
    counted = []
    for students, assignments in ((3, 2), (200, 12)):
        site = make_site(tmp_path / str(students), clock=clock)
        teacher = promoted(site, "euler", Role.TEACHER)
        post(teacher, "/classes/new", {"title": "CUDA", "description": ""})
        fill(site, clock, students=students, assignments=assignments, tries=4)
        pages = (MATRIX, f"{MATRIX}?show=stuck", PAGE, f"{PAGE}/grades.csv", f"{PAGE}/grades/canvas.csv")
        counted.append([len(queries(teacher, page)) for page in pages])
        found = rows(teacher, "stuck")
        assert len(found) == -(-students // 3)
        assert len(found["student0"]) == assignments + 1
    assert counted[0] == counted[1]
    assert max(counted[0]) <= 16
