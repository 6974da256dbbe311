"""Rights in a class are those of ``store.teaching.rights.RIGHTS``; assistants of a section; copies of a class."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from store.models import Assignment, Class, ClassStaff, Extension, Role, StaffRole
from store.people.accounts import find_user
from store.teaching import classes
from store.teaching.rights import RIGHTS, Right
from store.teaching.roster import Person, apply_list
from tests.integration.web.test_classes import PAGE, WORK, assign, code, join, send
from tests.integration.web.timed_site import Clock, promoted
from tests.web_site import Site, post

_NUMBER = "<int(max=2147483647):number>"
_WORK = f"/classes/{_NUMBER}/assignments/<int(max=2147483647):assignment_id>"
#: What each page and form of a class asks for; ``None``: every member may.
NEEDED: dict[tuple[str, str], Right | None] = {
    ("GET", f"/classes/{_NUMBER}"): None,
    ("GET", f"{_WORK}"): None,
    ("POST", f"/classes/{_NUMBER}/leave"): None,
    ("GET", f"/classes/{_NUMBER}/matrix"): Right.SEE_WORK,
    ("GET", f"/classes/{_NUMBER}/grades.csv"): Right.SEE_WORK,
    ("GET", f"/classes/{_NUMBER}/grades/canvas.csv"): Right.SEE_WORK,
    ("GET", f"/classes/{_NUMBER}/grades/moodle.csv"): Right.SEE_WORK,
    ("GET", f"{_WORK}/attempts/<username>"): Right.SEE_WORK,
    ("GET", f"{_WORK}/grades.csv"): Right.SEE_WORK,
    ("GET", f"{_WORK}/similarity"): Right.SEE_WORK,
    ("POST", f"{_WORK}/extensions"): Right.EXTEND,
    ("GET", f"/classes/{_NUMBER}/assignments/new"): Right.ASSIGN,
    ("POST", f"/classes/{_NUMBER}/assignments/new"): Right.ASSIGN,
    ("GET", f"{_WORK}/edit"): Right.ASSIGN,
    ("POST", f"{_WORK}/edit"): Right.ASSIGN,
    ("GET", f"/classes/{_NUMBER}/platform"): Right.ASSIGN,
    ("GET", f"/classes/{_NUMBER}/challenges"): Right.ASSIGN,
    ("POST", f"/classes/{_NUMBER}/challenges"): Right.ASSIGN,
    ("GET", f"/classes/{_NUMBER}/roster"): Right.ENROLL,
    ("POST", f"/classes/{_NUMBER}/roster"): Right.ENROLL,
    ("POST", f"/classes/{_NUMBER}/code"): Right.ENROLL,
    ("POST", f"/classes/{_NUMBER}/members/<username>/remove"): Right.ENROLL,
    ("GET", f"/classes/{_NUMBER}/edit"): Right.CHANGE,
    ("POST", f"/classes/{_NUMBER}/edit"): Right.CHANGE,
    ("GET", f"/classes/{_NUMBER}/copy"): Right.CHANGE,
    ("POST", f"/classes/{_NUMBER}/copy"): Right.CHANGE,
    ("GET", f"/classes/{_NUMBER}/staff"): Right.OWN,
    ("POST", f"/classes/{_NUMBER}/staff"): Right.OWN,
    ("POST", f"/classes/{_NUMBER}/delete"): Right.OWN,
    # These find nothing here, whoever asks; their rights are tested where they do.
    ("POST", f"/classes/{_NUMBER}/challenges/<challenge>/delete"): None,
    ("POST", f"/classes/{_NUMBER}/platform/exchange"): None,
    ("POST", f"/classes/{_NUMBER}/platform/disconnect"): None,
    ("POST", f"/classes/{_NUMBER}/staff/<username>/remove"): None,
    ("POST", f"{_WORK}/delete"): Right.ASSIGN,
}


@pytest.fixture
def site(timed_site: Site) -> Site:
    return timed_site


@pytest.fixture
def owner(site: Site, clock: Clock) -> FlaskClient:
    """The owner of a class with an assignment of two challenges, and with ada of section A and bob of section B."""
    client = promoted(site, "euler", Role.TEACHER)
    assert post(client, "/classes/new", {"title": "CUDA", "description": "Tea."}).location == PAGE
    assert assign(client, clock).location == WORK
    for name in ("ada", "bob"):
        join(site.visitor(name), code(client), name.title())
    with site.database() as session:
        for name in ("ada", "bob"):
            user = find_user(session, name)
            assert user is not None
            user.email = user.email_key = f"{name}@school.example"
        people = [Person("Ada", "ada@school.example", "1", "A"), Person("Bob", "bob@school.example", "2", "B")]
        apply_list(session, session.get_one(Class, 1), people, now=clock())
    return client


def appoint(site: Site, owner: FlaskClient, name: str, role: str, section: str = "") -> FlaskClient:
    client = promoted(site, name, Role.TEACHER)
    answer = post(owner, f"{PAGE}/staff", {"username": name, "role": role, "section": section})
    assert answer.status_code == 303, answer.text
    return client


def test_the_table_names_every_page_of_a_class(site: Site) -> None:
    rules = {
        (method, rule.rule)
        for rule in site.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.rule.startswith(f"/classes/{_NUMBER}")
    }
    assert rules == set(NEEDED)


def test_each_role_includes_what_the_lower_ones_may() -> None:
    assert RIGHTS[StaffRole.ASSISTANT] < RIGHTS[StaffRole.TEACHER] < RIGHTS[StaffRole.OWNER] == frozenset(Right)


@pytest.mark.parametrize("role", [StaffRole.TEACHER, StaffRole.ASSISTANT])
def test_pages_answer_whoever_has_the_right(site: Site, owner: FlaskClient, role: StaffRole) -> None:
    client = appoint(site, owner, "gauss", role)
    site.app.config["WTF_CSRF_ENABLED"] = False
    for (method, rule), right in NEEDED.items():
        if right is None or rule.endswith("/delete") or rule.endswith("/remove") or rule.endswith("/code"):
            continue
        path = rule.replace(_NUMBER, "1").replace("<int(max=2147483647):assignment_id>", "1")
        status = client.open(path.replace("<username>", "ada"), method=method).status_code
        assert (status != 404) == (right in RIGHTS[role]), (method, rule, status)
    for path, right in (
        (f"{PAGE}/code", Right.ENROLL),
        (f"{PAGE}/delete", Right.OWN),
        (f"{WORK}/delete", Right.ASSIGN),
    ):
        assert (client.post(path).status_code != 404) == (right in RIGHTS[role]), path


def test_teachers_and_assistants_see_the_work_until_they_are_removed(
    site: Site, owner: FlaskClient, clock: Clock
) -> None:
    clock.now = clock.at(13.5)
    sent = send(site, site.visitor("ada"), clock, 13.5, "vector-add")
    helper = appoint(site, owner, "gauss", "assistant")
    assert "CUDA" in helper.get("/classes/").text
    assert "Ada" in helper.get(f"{PAGE}/matrix").text
    assert helper.get(f"/submissions/{sent}").status_code == 200
    assert "Change" not in helper.get(WORK).text
    assert post(owner, f"{PAGE}/staff/gauss/remove", {}, page=f"{PAGE}/staff").status_code == 303
    assert helper.get(PAGE).status_code == helper.get(f"/submissions/{sent}").status_code == 404


def test_an_assistant_of_a_section_sees_only_that(site: Site, owner: FlaskClient, clock: Clock) -> None:
    clock.now = clock.at(13.5)
    sent = {name: send(site, site.visitor(name), clock, 13.5, "vector-add") for name in ("ada", "bob")}
    helper = appoint(site, owner, "gauss", "assistant", "A")
    for page in (PAGE, WORK, f"{PAGE}/matrix", f"{PAGE}/grades.csv", f"{PAGE}/grades/canvas.csv", f"{WORK}/grades.csv"):
        text = helper.get(page).text
        assert ("Ada" in text, "Bob" in text) == (True, False), page
    assert helper.get(f"{WORK}/attempts/bob").status_code == 404
    assert helper.get(f"{WORK}/attempts/ada").status_code == 200
    assert [helper.get(f"/submissions/{sent[name]}").status_code for name in ("ada", "bob")] == [200, 404]
    form = {"usernames": "bob", "section": "", "due_at": clock.field(16)}
    assert post(helper, f"{WORK}/extensions", form, page=WORK).status_code == 422
    assert post(helper, f"{WORK}/extensions", {**form, "usernames": "ada"}, page=WORK).status_code == 303
    with site.database() as session:
        assert session.query(Extension).count() == 1
    assert ["Ada" in owner.get(WORK).text, "Bob" in owner.get(WORK).text] == [True, True]


def test_the_owner_is_told_what_is_wrong(site: Site, owner: FlaskClient) -> None:
    def said(username: str, **more: str) -> str:
        return post(owner, f"{PAGE}/staff", {"username": username, "role": "teacher", "section": "", **more}).text

    assert "Nobody has this user name" in said("nobody")
    assert "This is the owner" in said("euler")
    assert "Not a valid choice" in said("ada", role="owner")
    assert "Not a valid choice" in said("ada", section="Z")
    appoint(site, owner, "gauss", "assistant", "A")
    appoint(site, owner, "gauss", "teacher", "A")
    with site.database() as session:
        row = session.query(ClassStaff).one()
        assert (row.role, row.section) == ("teacher", "")


def test_an_owner_who_is_no_longer_a_teacher_of_the_site_may_do_nothing(site: Site, owner: FlaskClient) -> None:
    with site.database() as session:
        user = find_user(session, "euler")
        assert user is not None
        user.role = Role.USER
    assert owner.get(PAGE).status_code == 404


def test_a_copy_has_the_assignments_at_other_dates_and_nobody_in_it(
    site: Site, owner: FlaskClient, clock: Clock
) -> None:
    assert "in the past" in post(owner, f"{PAGE}/copy", {"title": "Next", "opens_at": clock.field(1)}).text
    answer = post(owner, f"{PAGE}/copy", {"title": "CUDA, autumn", "opens_at": clock.field(14)})
    assert answer.location == "/classes/2"
    with site.database() as session:
        first, second = session.query(Assignment).order_by(Assignment.id).all()
        assert second.class_id == 2
        assert second.opens_at - first.opens_at == second.due_at - first.due_at == timedelta(hours=1)
        assert (second.title, second.slugs, second.points, second.device_key) == (
            first.title,
            first.slugs,
            first.points,
            first.device_key,
        )
        group, copied = session.get_one(Class, 1), session.get_one(Class, 2)
        assert (copied.title, copied.description) == ("CUDA, autumn", "Tea.")
        assert group.code != copied.code
        assert classes.list_members(session, copied) == []
    page = owner.get("/classes/2").text
    assert re.search("Nobody has joined yet", page)


def test_many_are_extended_at_once_or_nobody(site: Site, owner: FlaskClient, clock: Clock) -> None:
    def extend(usernames: str, section: str = "", due_at: str = clock.field(17)) -> str:
        form = {"usernames": usernames, "section": section, "due_at": due_at}
        return post(owner, f"{WORK}/extensions", form, page=WORK).text

    def count() -> int:
        with site.database() as session:
            return session.query(Extension).count()

    assert "Nobody in the class has these user names: eve, mallory" in extend("ada, eve mallory")
    assert "Say who" in extend("")
    assert count() == 0
    extend("ADA, bob")
    assert count() == 2
    extend("", "A", "")
    assert count() == 1
    extend("ada", "B")
    assert count() == 2
