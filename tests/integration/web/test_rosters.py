"""A roster from its upload to the files for Canvas and Moodle."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from store.clock import utc_now
from store.models import ClassMember, Role, RosterEntry, Submission
from store.operation.administration import rejudge_many
from store.operation.operator_log import Actor
from store.people.accounts import find_user, find_user_by_email, set_email
from store.people.personal_data import close_account
from store.teaching.roster import claim_invitations
from tests.integration.web.test_classes import PAGE, PASSWORD, assign, code, join, send, table
from tests.integration.web.timed_site import Clock, promoted
from tests.web_site import H200, Site, accepted, post

ROSTER = f"{PAGE}/roster"
LIST = """name,e-mail,SIS id,section
"Lovelace, Ada",ada@example.org,1815,Morning
Gauß,cfg@example.org,1777,Evening
=cmd(),Eve@Example.org,,Evening
"""


@pytest.fixture
def site(timed_site: Site) -> Site:
    return timed_site


@pytest.fixture
def teacher(site: Site) -> FlaskClient:
    client = promoted(site, "euler", Role.TEACHER)
    assert post(client, "/classes/new", {"title": "CUDA", "description": ""}).location == PAGE
    return client


def upload(client: FlaskClient, text: str | bytes) -> Any:
    data = text.encode() if isinstance(text, str) else text
    return post(client, ROSTER, {"file": (io.BytesIO(data), "list.csv")}, content_type="multipart/form-data")


def confirmed(site: Site, name: str, email: str) -> FlaskClient:
    client = site.visitor(name)
    with site.database() as session:
        user = find_user(session, name)
        assert user is not None
        set_email(session, user=user, email=email)
    return client


def members(site: Site) -> dict[str, str]:
    with site.database() as session:
        return {row.user.username: row.known_as for row in session.query(ClassMember)}


def confirm_by_mail(site: Site, client: FlaskClient, email: str) -> None:
    """Confirms an address as its owner does: by the link of the mail."""
    post(client, "/account/email", {"email": email, "email_password": PASSWORD}, page="/account/")
    site.services.background.wait()
    mail = max((site.services.settings.data_dir / "mails").iterdir(), key=lambda file: file.stat().st_mtime_ns)
    link = mail.read_text().partition("/account/confirm/")[2].split()[0]
    assert post(client, f"/account/confirm/{link}", {}).status_code == 302


def test_who_confirmed_an_address_is_in_and_the_others_are_invited(site: Site, teacher: FlaskClient) -> None:
    ada = confirmed(site, "ada", "ADA@example.org")
    bob = site.visitor("bob")  # has the address of nobody
    answer = upload(teacher, LIST)
    assert answer.location == ROSTER
    page = teacher.get(ROSTER).text
    assert "3 new, 0 changed, 1 joined the class, 0 no longer on the list." in page
    assert page.count(">invited<") == 2
    assert members(site) == {"ada": "Lovelace, Ada"}
    assert ada.get(PAGE).status_code == 200
    # A claim alone is worth nothing: who only typed an address has not confirmed it.
    post(bob, "/account/email", {"email": "cfg@example.org", "email_password": PASSWORD}, page="/account/")
    assert members(site) == {"ada": "Lovelace, Ada"}
    gauss = site.visitor("gauss")
    confirm_by_mail(site, gauss, "cfg@example.org")
    assert members(site) == {"ada": "Lovelace, Ada", "gauss": "Gauß"}
    assert "you are in a new class" in gauss.get("/").text


def test_a_later_list_changes_sections_and_says_who_left(site: Site, teacher: FlaskClient) -> None:
    confirmed(site, "ada", "ada@example.org")
    gauss = confirmed(site, "gauss", "cfg@example.org")
    upload(teacher, LIST)
    post(gauss, f"{PAGE}/leave", {}, page=PAGE)
    later = "name,e-mail,SIS id,section\nGauss,cfg@example.org,1777,Morning\nEve,eve@example.org,9,Evening\n"
    upload(teacher, later)
    page = teacher.get(ROSTER).text
    assert "0 new, 2 changed, 0 joined the class, 1 no longer on the list." in page
    gone = page.partition('id="left"')[2].partition("</section>")[0]
    assert "ada@example.org" in gone
    assert "Remove" in gone
    # She stays until the teacher removes her; who left does not come back by a list.
    assert members(site) == {"ada": "Lovelace, Ada"}
    assert "left or was removed" in page
    upload(teacher, LIST)
    assert "0 new, 3 changed, 0 joined the class, 0 no longer" in teacher.get(ROSTER).text
    upload(teacher, LIST.replace("Lovelace, Ada", "King, Ada"))
    assert "0 new, 1 changed, 0 joined" in teacher.get(ROSTER).text
    assert members(site) == {"ada": "King, Ada"}
    # An invitation that the list no longer has is none.
    upload(teacher, "name,e-mail\nAda,ada@example.org\n")
    confirm_by_mail(site, site.visitor("eve"), "eve@example.org")
    assert "eve" not in members(site)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (LIST.encode("latin-1"), "Line 3 is not UTF-8, maybe Latin-1."),
        (LIST + "Ada,ADA@example.org,2,A\n", "Line 5: the e-mail ada@example.org is in line 2, too."),
        (LIST + "Nobody,nowhere,2,A\n", "Line 5: nowhere is not an e-mail address."),
        ("name\nAda\n", "There is no column e-mail."),
        ("name,e-mail\n" + "".join(f"P{n},p{n}@example.org\n" for n in range(10_000)), "a class has at most 2,000."),
        ("", "The file is empty."),
    ],
)
def test_a_wrong_list_changes_nothing(site: Site, teacher: FlaskClient, data: str | bytes, says: str) -> None:
    confirmed(site, "ada", "ada@example.org")
    answer = upload(teacher, data)
    assert answer.status_code == 422
    assert says in answer.text
    assert post(teacher, ROSTER, {}).status_code == 422
    with site.database() as session:
        assert (session.query(RosterEntry).count(), session.query(ClassMember).count()) == (0, 0)


def test_the_largest_list_is_taken_over(site: Site, teacher: FlaskClient) -> None:
    people = "name,e-mail,section\n" + "".join(f"P{n},p{n}@example.org,S{n % 9}\n" for n in range(2000))
    assert upload(teacher, "\ufeff" + people).status_code == 303
    with site.database() as session:
        assert session.query(RosterEntry).count() == 2000


def test_a_closed_account_leaves_the_roster(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    confirmed(site, "ada", "ada@example.org")
    upload(teacher, LIST)
    with site.database() as session:
        user = find_user(session, "ada")
        assert user is not None
        close_account(session, user=user, now=clock())
    with site.database() as session:
        assert {row.email_key for row in session.query(RosterEntry)} == {"cfg@example.org", "eve@example.org"}


def test_canvas_and_moodle_get_points_by_the_numbers_of_the_list(
    site: Site, teacher: FlaskClient, clock: Clock
) -> None:
    ada = confirmed(site, "ada", "ada@example.org")
    eve = confirmed(site, "eve", "eve@example.org")
    upload(teacher, LIST)
    bob = site.visitor("bob")
    join(bob, code(teacher), "Bob")
    assign(teacher, clock, title="Week (1)", points="10")
    assign(teacher, clock, title="Week", challenges="softmax")
    assign(teacher, clock, title="Week", challenges="softmax", opens_at=clock.field(20), due_at=clock.field(21))
    send(site, ada, clock, 14, "vector-add")
    waiting = send(site, eve, clock, 14, "softmax")
    clock.now = clock.at(16)
    with site.database() as session:
        # It is judged again.
        session.query(Submission).filter_by(public_id=waiting).update({"verdict": None, "state": "queued"})
    titles = ["Week [1]", "Week [2]", "Week [3]"]
    assert table(teacher, f"{PAGE}/grades/canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles],
        ["    Points Possible", "", "", "", "", "10", "100", "100"],
        ["'=cmd()", "", "", "Eve@Example.org", "Evening", "", "", ""],
        ["Bob", "", "", "", "", "0", "0", ""],
        ["Lovelace, Ada", "", "1815", "ada@example.org", "Morning", "5", "0", ""],
    ]
    assert table(teacher, f"{PAGE}/grades/moodle.csv") == [
        ["Email address", "Full name", *titles],
        ["Eve@Example.org", "'=cmd()", "", "", ""],
        ["ada@example.org", "Lovelace, Ada", "5", "0", ""],
    ]
    assert table(teacher, f"{PAGE}/grades/moodle.csv?by=id") == [
        ["ID number", "Full name", *titles],
        ["1815", "Lovelace, Ada", "5", "0", ""],
    ]
    assert teacher.get(f"{PAGE}/grades/moodle.csv?by=name").status_code == 404
    assert {row[1]: row[2] for row in table(teacher, f"{PAGE}/grades.csv")[1:]} == {
        "ada": "Morning",
        "bob": "",
        "eve": "Evening",
    }
    assert table(teacher, f"{PAGE}/grades.csv")[1][0] == "'=cmd()"
    page = teacher.get(f"{PAGE}/matrix?section=Morning").text
    assert "Lovelace, Ada" in page
    assert "Bob" not in page


@pytest.mark.parametrize("typed", ["\uff41da@example.org", "\u0430da@example.org", "ad\u1e9a@example.org"])
def test_an_address_that_looks_like_anothers_is_refused_where_it_is_typed(
    site: Site, teacher: FlaskClient, typed: str
) -> None:
    upload(teacher, LIST)
    form = {"email": typed, "email_password": PASSWORD}
    answer = post(site.visitor("mallory"), "/account/email", form, page="/account/")
    assert answer.status_code == 422
    assert "Latin letters" in answer.text
    sign_up = {"username": "lured", "password": PASSWORD, "email": typed}
    assert "Latin letters" in post(site.app.test_client(), "/account/sign-up", sign_up).text
    page = upload(teacher, f"name,e-mail\nBob,bob@example.org\nAda,{typed}\n").text
    assert "Line 3" in page
    assert "Latin letters" in page
    with site.database() as session:
        assert find_user(session, "lured") is None


def test_a_confirmed_address_that_folds_to_anothers_is_invited_by_neither_name(
    site: Site, teacher: FlaskClient
) -> None:
    """Another mailbox than ``ask@``, whose Kelvin sign case folding makes a k: its owner gets no place of theirs."""
    upload(teacher, "name,e-mail\nAsk,ask@example.org\n")
    site.add_user("mallory")
    site.add_user("ask")
    with site.database() as session:
        mallory, ask = find_user(session, "mallory"), find_user(session, "ask")
        assert mallory is not None
        assert ask is not None
        set_email(session, user=mallory, email="as\u212a@example.org")
        assert claim_invitations(session, mallory, now=utc_now()) == 0
        set_email(session, user=ask, email="Ask@Example.org")
        assert claim_invitations(session, ask, now=utc_now()) == 1
        found = find_user_by_email(session, "as\u212a@example.org")
        assert found is not None
        assert found.id == mallory.id


def test_a_list_of_another_class_is_nobodys_business(site: Site, teacher: FlaskClient) -> None:
    upload(teacher, LIST)
    other, ada = promoted(site, "noether", Role.TEACHER), site.visitor("ada")
    for client in (other, ada):
        for page in ("roster", "grades/canvas.csv", "grades/moodle.csv", "matrix"):
            assert client.get(f"{PAGE}/{page}").status_code == 404
        data = {"file": (io.BytesIO(LIST.encode()), "list.csv")}
        sent = post(client, ROSTER, data, page="/account/", content_type="multipart/form-data")
        assert sent.status_code == 404


def test_no_export_grades_what_is_being_judged_again(site: Site, teacher: FlaskClient, clock: Clock) -> None:
    assign(teacher, clock, title="Week", points="10", challenges="vector-add")
    for name in ("ada", "bob"):
        client = site.visitor(name)
        join(client, code(teacher), name)
        send(site, client, clock, 14, "vector-add")
    clock.now = clock.at(23)
    paths = (f"{PAGE}/grades.csv", f"{PAGE}/assignments/1/grades.csv", f"{PAGE}/grades/canvas.csv")
    before = [table(teacher, path) for path in paths]
    assert [row[3:] for row in before[0][1:]] == [["1", "10", "100.00"]] * 2
    with site.database() as session:
        actor, later = Actor("root", None, ""), clock.now + timedelta(hours=1)
        assert rejudge_many(
            session, actor, "vector-add", "new", digest="", judged_before=later, limit=9, now=clock.now
        ) == (2, False)
    grades, work, canvas = (table(teacher, path) for path in paths)
    assert [row[3:] for row in grades[1:]] == [["", "", ""]] * 2
    assert [row[4:] for row in work[1:]] == [["", "", "being judged", "", "", ""]] * 2
    assert [row[-1] for row in canvas[2:]] == ["", ""]
    site.work(device=H200, cases=accepted("n-1"))
    assert sorted(row[-1] for row in table(teacher, paths[0])[1:]) == ["", "100.00"]
    site.work(device=H200, cases=accepted("n-1"))
    assert [table(teacher, path) for path in paths] == before
