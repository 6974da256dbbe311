"""Launches from a learning platform that signs its messages: who is let in, as whom, and what is refused."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from flask.testing import FlaskClient
from jwcrypto.jwk import JWK

from store.clock import utc_now
from store.models import (
    Class,
    ClassMember,
    ClassStaff,
    Identity,
    LtiCourse,
    LtiLaunch,
    LtiLink,
    Role,
    RosterEntry,
    User,
)
from store.people.accounts import find_user
from store.teaching import classes
from store.teaching.roster import Person, apply_list
from tests.assignments import add_assignment
from tests.integration.web.timed_site import promoted
from tests.services.lti_platform import (
    ASSISTANT,
    CLAIM,
    CLIENT_ID,
    DEPLOYMENT,
    GRADES,
    INSTRUCTOR,
    ITEMS,
    LtiPlatform,
)
from tests.web_site import Site, make_site, post


@pytest.fixture(scope="module")
def platform() -> Iterator[LtiPlatform]:
    made = LtiPlatform()
    yield made
    made.close()


@pytest.fixture
def site(data_dir: Path) -> Site:
    often = "10000 per minute"
    return make_site(data_dir, address_rate=often, log_in_rate=often)


def onward(answer: Any) -> str:
    assert answer.status_code == 303, answer.text
    return str(answer.location)


def newcomer(client: FlaskClient, answer: Any, username: str) -> str:
    """Makes an account for whom a launch brings; returns where it leads."""
    where = onward(answer)
    assert "Choose an account" in client.get(where).text
    return onward(post(client, where, {"username": username}))


def connected(site: Site, platform: LtiPlatform) -> FlaskClient:
    """Connects the course to a class that euler makes of it, who gets the role for that."""
    platform.register(site, makes_teachers=True)
    client = site.app.test_client()
    assert newcomer(client, platform.launch(client, "euler", INSTRUCTOR), "euler") == "/lti/connect"
    assert "CUDA, spring" in client.get("/lti/connect").text
    assert onward(post(client, "/lti/connect", {"group": "new", "title": "CUDA"})) == "/classes/1/platform"
    return client


def assignment(site: Site, title: str = "Sums", *, opens_in: float = -1.0) -> int:
    now = utc_now()
    with site.database() as session:
        row = add_assignment(session, 1, now=now, title=title, opens_at=now + timedelta(hours=opens_in), points=20.0)
        return row.id


def test_the_teacher_connects_and_students_join_with_their_names(site: Site, platform: LtiPlatform) -> None:
    teacher = connected(site, platform)
    with site.database() as session:
        course, group = session.query(LtiCourse).one(), session.query(Class).one()
        assert (course.class_id, course.context_id, course.members_url) == (1, "course-7", f"{platform.url}/members")
        assert group.title == "CUDA"
        euler = find_user(session, "euler")
        assert euler is not None
        assert (euler.role, group.owner_id) == (Role.TEACHER, euler.id)
    assert "Connected to CUDA, spring of School" in teacher.get("/classes/1/platform").text

    student = site.app.test_client()
    assert newcomer(student, platform.launch(student, "s-1"), "gauss") == "/classes/1"
    again = site.app.test_client()
    where = onward(platform.launch(again, "s-1"))
    assert onward(again.get(where)) == "/classes/1", "known from there on"
    assert "gauss" in again.get("/account/").text
    with site.database() as session:
        member = session.query(ClassMember).one()
        assert (member.known_as, member.user.username) == ("Name of s-1", "gauss")
        assert session.query(Identity).count() == 2

    helper = site.app.test_client()
    newcomer(helper, platform.launch(helper, "s-2", ASSISTANT), "helper")
    with site.database() as session:
        assert session.query(ClassStaff).one().role == "assistant"
    assert "Name of s-1" in helper.get("/classes/1").text


def test_the_api_shows_the_course_asks_for_an_exchange_and_disconnects(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    assignment(site)
    site.add_user("ada")
    client, path = site.app.test_client(), "/api/v1/classes/1/platform"
    headers = {name: {"Authorization": f"Bearer {site.token_of(name)}"} for name in ("ada", "euler")}
    shown = client.get(path, headers=headers["euler"]).get_json()
    assert (shown["platform"], shown["course"], shown["roster_read_at"]) == ("School", "CUDA, spring", None)
    with site.database() as session:
        session.query(LtiCourse).one().roster_due_at = None
    assert client.post(f"{path}/exchange", headers=headers["ada"]).status_code == 404
    assert client.post(f"{path}/exchange", headers=headers["euler"]).status_code == 202
    with site.database() as session:
        assert session.query(LtiCourse).one().roster_due_at is not None
    assert client.delete(path, headers=headers["ada"]).status_code == 404
    assert client.delete(path, headers=headers["euler"]).get_json() == shown
    assert client.get(path, headers=headers["euler"]).status_code == 404


def test_a_link_opens_its_assignment_once_it_is_open(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    open_one, later = assignment(site), assignment(site, "Later", opens_in=1.0)
    column = {GRADES: {"scope": ["s"], "lineitems": f"{platform.url}/lineitems", "lineitem": f"{platform.url}/li/9"}}
    client = site.app.test_client()
    custom = {f"{CLAIM}custom": {"assignment": str(open_one)}}
    assert newcomer(client, platform.launch(client, "s-1", **custom, **column), "gauss").endswith(
        f"/assignments/{open_one}"
    )
    with site.database() as session:
        found = session.query(LtiLink).one()
        assert (found.assignment_id, found.line_item_url) == (open_one, f"{platform.url}/li/9")
    for unknown in (str(later), "777", "x", ""):
        where = onward(platform.launch(client, "s-1", **{f"{CLAIM}custom": {"assignment": unknown}}))
        assert onward(client.get(where)) == "/classes/1"


def test_a_course_that_is_not_connected_says_what_to_do(site: Site, platform: LtiPlatform) -> None:
    platform.register(site)
    student = site.app.test_client()
    where = onward(platform.launch(student, "s-1"))
    answer = post(student, where, {"username": "gauss"})
    assert answer.status_code == 409
    assert "Ask your teacher to open the site" in answer.text
    teacher = site.app.test_client()
    assert newcomer(teacher, platform.launch(teacher, "t-1", INSTRUCTOR), "euler") == "/lti/connect"
    assert "Ask the site&#39;s operator to make euler a teacher" in teacher.get("/lti/connect").text
    assert site.visitor("eve").get("/lti/connect").status_code == 404


def test_a_teacher_connects_a_class_that_exists(site: Site, platform: LtiPlatform) -> None:
    platform.register(site)
    teacher = promoted(site, "euler", Role.TEACHER)
    post(teacher, "/classes/new", {"title": "Numbers", "description": ""})
    where = onward(platform.launch(teacher, "t-1", INSTRUCTOR))
    assert "Go on as euler" in teacher.get(where).text
    assert onward(post(teacher, where, {"as": "euler"})) == "/lti/connect"
    assert onward(post(teacher, "/lti/connect", {"group": "1", "title": ""})) == "/classes/1/platform"
    assert post(teacher, "/lti/connect", {"group": "1", "title": ""}, page="/account/").status_code == 404, "once"
    assert onward(post(teacher, "/classes/1/platform/disconnect", {}, page="/classes/1/platform"))
    assert "connected to no course" in teacher.get("/classes/1/platform").text


def refuses_the_ticket(victim: FlaskClient, where: str) -> None:
    """Checks that a ticket which was made for another browser neither opens nor takes anything here."""
    for answer in (
        victim.get(where),
        post(victim, where, {"as": "ada"}, page="/account/forgot"),
        post(victim, where, {"username": "lured"}, page="/account/forgot"),
    ):
        assert answer.status_code == 403, answer.text
        assert "Open the link in your course yourself" in answer.text


def test_nobody_is_made_to_give_their_account_to_another_persons_ticket(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    where = onward(platform.launch(site.app.test_client(), "mallory"))
    victim = site.visitor("ada")
    refuses_the_ticket(victim, where)
    assert "ada" in victim.get("/account/").text
    with site.database() as session:
        assert session.query(Identity).filter_by(subject="mallory").count() == 0
        assert find_user(session, "lured") is None


@pytest.mark.parametrize("signed_in", [True, False])
@pytest.mark.parametrize("frame", [True, False])
def test_a_link_that_somebody_sends_signs_nobody_in_as_them(
    site: Site, platform: LtiPlatform, *, signed_in: bool, frame: bool
) -> None:
    connected(site, platform)
    attacker = site.app.test_client()
    newcomer(attacker, platform.launch(attacker, "mallory"), "mallory")
    answer = platform.launch(attacker, "mallory", frame=frame)
    where = answer.location or f"/lti/enter/{ticket_of(answer.text)}"
    victim = site.visitor("ada") if signed_in else site.app.test_client()
    refuses_the_ticket(victim, where)
    # The page in the frame leads to the window by a form, which another site could send, too.
    lured = victim.post(f"/lti/open/{where.rpartition('/')[2]}", headers={"Sec-Fetch-Site": "cross-site"})
    assert lured.status_code == 403
    refuses_the_ticket(victim, where)
    page = victim.get("/account/", follow_redirects=True).text
    assert ("mallory" in page, "ada" in page) == (False, signed_in)


def test_a_message_signs_nobody_in_in_another_browser(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    attacker, victim = site.app.test_client(), site.visitor("ada")
    asked = platform.begin(attacker)
    token = platform.sign(platform.claims(asked["nonce"], "mallory"))
    answer = victim.post("/lti/launch", data={"id_token": token, "state": asked["state"]})
    assert answer.status_code == 400
    assert "does not answer a log-in that this browser began" in answer.text


def test_two_launches_at_once_both_arrive(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    client = site.app.test_client()
    newcomer(client, platform.launch(client, "s-1"), "gauss")
    both = [onward(platform.launch(client, "s-1")) for _ in range(2)]
    assert [onward(client.get(where)) for where in both] == ["/classes/1"] * 2


def ticket_of(page: str) -> str:
    """Returns the ticket of the page that a launch in a frame gets."""
    found = re.search(r'action="/lti/open/([^"]+)"', page)
    assert found is not None
    return found[1]


def on_the_roster(site: Site, name: str, address: str, sis_id: str, lms_id: str | None = None) -> None:
    """Makes a user who has confirmed an address, and whom the class's roster names by it."""
    site.add_user(name)
    with site.database() as session:
        user, group = find_user(session, name), session.get_one(Class, 1)
        assert user is not None
        user.email = user.email_key = address
        apply_list(session, group, [Person("C. F. Gauss", address, sis_id, "A", lms_id)], now=utc_now())
        assert classes.is_member(session, group, user_id=user.id)


def test_the_address_on_the_roster_says_whose_account_it_is(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    on_the_roster(site, "gauss", "s-1@school.example", "0815")
    client = site.app.test_client()
    where = onward(platform.launch(client, "s-1"))
    assert onward(client.get(where)) == "/classes/1"
    assert "gauss" in client.get("/account/").text
    with site.database() as session:
        assert session.query(RosterEntry).one().lms_id == "s-1"


@pytest.mark.parametrize("by", ["a number that the teacher typed", "an address that is another's at the platform"])
def test_the_roster_gives_nobody_the_account_of_another(site: Site, platform: LtiPlatform, by: str) -> None:
    connected(site, platform)
    typed = by.startswith("a number")
    address = "gauss@home.example" if typed else "mallory@school.example"
    on_the_roster(site, "gauss", address, "0815", None if typed else "s-1")
    client = site.app.test_client()
    sis = {f"{CLAIM}lis": {"person_sourcedid": "0815"}} if typed else {}
    assert "Choose an account" in client.get(onward(platform.launch(client, "mallory", **sis))).text
    with site.database() as session:
        assert session.query(Identity).filter_by(subject="mallory").count() == 0


@pytest.mark.parametrize("local_part", ["gau\u017f\u017f", "\uff47auss", "GAU\u1e9e"])
def test_an_address_that_looks_or_folds_like_anothers_opens_no_account(
    site: Site, platform: LtiPlatform, local_part: str
) -> None:
    connected(site, platform)
    on_the_roster(site, "gauss", "gauss@school.example", "0815")
    client = site.app.test_client()
    where = onward(platform.launch(client, "mallory", email=f"{local_part}@school.example"))
    assert "Choose an account" in client.get(where).text
    with site.database() as session:
        assert session.query(Identity).filter_by(subject="mallory").count() == 0


def test_a_platform_gives_nobody_an_account_with_rights(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    promoted(site, "root", Role.OPERATOR)
    with site.database() as session:
        root, group = find_user(session, "root"), session.get_one(Class, 1)
        assert root is not None
        root.email = root.email_key = "root@school.example"
        apply_list(session, group, [Person("Root", "root@school.example", "1", "A")], now=utc_now())
    client = site.app.test_client()
    assert "Choose an account" in client.get(onward(platform.launch(client, "root"))).text
    with site.database() as session:
        assert session.query(Identity).filter_by(subject="root").count() == 0


def test_an_invitation_of_the_roster_becomes_the_newcomers(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    with site.database() as session:
        apply_list(session, session.get_one(Class, 1), [Person("N. N.", "s-1@school.example", "1", "B")], now=utc_now())
    client = site.app.test_client()
    newcomer(client, platform.launch(client, "s-1"), "noether")
    with site.database() as session:
        entry, member = session.query(RosterEntry).one(), session.query(ClassMember).one()
        assert entry.user_id == member.user_id
        assert member.known_as == "N. N."


def test_in_a_frame_the_site_opens_in_a_window(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    client = site.app.test_client()
    answer = platform.launch(client, "s-1", frame=True)
    assert answer.status_code == 200
    assert "X-Frame-Options" not in answer.headers
    assert f"frame-ancestors {platform.url}" in answer.headers["Content-Security-Policy"]
    window = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate"}
    opened = client.post(f"/lti/open/{ticket_of(answer.text)}", headers=window)
    assert onward(opened) == f"/lti/enter/{ticket_of(answer.text)}"
    page = client.get(opened.location)
    assert "Choose an account" in page.text
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


def test_a_ticket_works_once(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    client = site.app.test_client()
    where = onward(platform.launch(client, "s-1"))
    post(client, where, {"username": "gauss"})
    assert client.get(where).status_code == 404
    assert "Open the link in your course again" in site.app.test_client().get(where).text


def refusal(client: FlaskClient, token: str, state: str) -> tuple[int, str]:
    answer = client.post("/lti/launch", data={"id_token": token, "state": state})
    return answer.status_code, answer.text


def test_a_message_that_comes_again_is_refused(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    client = site.app.test_client()
    asked = platform.begin(client)
    token = platform.sign(platform.claims(asked["nonce"], "s-1"))
    assert client.post("/lti/launch", data={"id_token": token, "state": asked["state"]}).status_code == 303
    status, text = refusal(client, token, asked["state"])
    assert (status, "This message was used already" in text) == (409, True)
    other = platform.begin(client)
    status, text = refusal(client, token, other["state"])
    assert (status, "does not answer a log-in that this browser began" in text) == (400, True)


def test_another_browser_cannot_use_a_message(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    asked = platform.begin(site.app.test_client())
    token = platform.sign(platform.claims(asked["nonce"], "s-1"))
    status, text = refusal(site.app.test_client(), token, asked["state"])
    assert (status, "allow cookies" in text) == (400, True)


OLD = int(time.time()) - 3600
WRONG = [
    ({"exp": OLD, "iat": OLD - 300}, 400, "has expired"),
    ({"iss": "https://other.example"}, 403, "No learning platform is registered here with this name: https://other"),
    ({"aud": "999"}, 403, "client id 999"),
    ({"aud": ["999", CLIENT_ID]}, 403, "client id 999"),
    ({f"{CLAIM}deployment_id": "2:other"}, 403, "not its deployment “2:other”"),
    ({f"{CLAIM}deployment_id": None}, 400, "cannot be used"),
    ({f"{CLAIM}context": None}, 400, "which course it comes from"),
    ({f"{CLAIM}roles": None}, 400, "Missing Roles"),
    ({f"{CLAIM}version": "1.1"}, 400, "Incorrect version"),
    ({f"{CLAIM}message_type": "Other"}, 400, "Unrecognized message type"),
    ({"exp": None}, 403, "not signed as those"),
    ({"sub": None}, 403, "not signed as those"),
    ({"sub": "x" * 300}, 400, "255 characters"),
]


@pytest.mark.parametrize(("changes", "status", "said"), WRONG, ids=[each[2] for each in WRONG])
def test_a_wrong_message_is_refused_with_its_reason(
    site: Site, platform: LtiPlatform, changes: dict[str, Any], status: int, said: str
) -> None:
    connected(site, platform)
    answer = platform.launch(site.app.test_client(), "s-1", **changes)
    assert answer.status_code == status
    assert said.replace("'", "&#39;") in answer.text
    with site.database() as session:
        assert session.query(Identity).count() == 1


def test_a_message_that_is_not_signed_by_the_platform_is_refused(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    client = site.app.test_client()
    other = JWK.generate(kty="RSA", size=2048)
    for kid, said in (("platform-1", "not signed as those"), ("unknown", "cannot be used")):
        asked = platform.begin(client)
        token = platform.sign(platform.claims(asked["nonce"], "s-1"), key=other, kid=kid)
        status, text = refusal(client, token, asked["state"])
        assert (status in (400, 403), said in text) == (True, True)
    asked = platform.begin(client)
    claims = platform.claims(asked["nonce"], "s-1")
    for token in ("", "x", "a.b.c", jwt.encode(claims, "", algorithm="none", headers={"kid": "platform-1"})):
        assert refusal(client, token, asked["state"])[0] in (400, 403)
    pem = platform.key.export_to_pem().decode()
    head = jwt.encode(claims, "k" * 40, algorithm="HS256", headers={"kid": "platform-1"})
    assert refusal(client, head, asked["state"])[0] in (400, 403), pem
    good = platform.sign(claims)
    assert client.post("/lti/launch", data={"id_token": good, "state": asked["state"]}).status_code == 303


def test_an_answer_that_comes_late_is_refused(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    client = site.app.test_client()
    asked = platform.begin(client)
    with site.database() as session:
        session.query(LtiLaunch).update({"expires_at": utc_now() - timedelta(seconds=1)})
    status, text = refusal(client, platform.sign(platform.claims(asked["nonce"], "s-1")), asked["state"])
    assert (status, "came too late" in text) == (400, True)


def test_log_ins_that_name_no_platform_are_refused(site: Site, platform: LtiPlatform) -> None:
    platform.register(site)
    client = site.app.test_client()
    for query in ({}, {"iss": platform.url}, {"iss": "https://x.example", "login_hint": "1", "client_id": "1"}):
        answer = client.get("/lti/login", query_string=query)
        assert answer.status_code in (400, 403)
    without_client = client.post("/lti/login", data={"iss": platform.url, "login_hint": "1"})
    assert without_client.status_code == 302, "an issuer with one client needs no client id"
    said = client.post("/lti/launch", data={"error": "login_required", "error_description": "Log in there."})
    assert (said.status_code, "Log in there." in said.text) == (403, True)


def test_the_teacher_links_assignments_from_a_frame_without_cookies(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    numbers = [assignment(site), assignment(site, "Means")]
    client = site.app.test_client()
    where = onward(platform.launch(client, "euler", INSTRUCTOR, **platform.deep_linking()))
    frame = site.app.test_client()
    page = frame.get(where)
    assert f"frame-ancestors {platform.url}" in page.headers["Content-Security-Policy"]
    assert "Sums" in page.text
    assert "Choose an assignment" in frame.post(where, data={}).text
    chosen = frame.post(where, data={"assignment": [str(each) for each in numbers]})
    assert f"form-action 'self' {platform.url}" in chosen.headers["Content-Security-Policy"]
    found = re.search(r'action="([^"]+)" data-send-on><input type="hidden" name="JWT" value="([^"]+)"', chosen.text)
    assert found is not None
    assert found[1] == f"{platform.url}/back"
    key = platform.site_keys["keys"][0]
    said = jwt.decode(found[2], jwt.PyJWK(key).key, algorithms=["RS256"], audience=platform.url, issuer=CLIENT_ID)
    assert said[f"{CLAIM}deployment_id"] == DEPLOYMENT
    first, second = said[ITEMS]
    assert (first["title"], second["title"]) == ("Sums", "Means")
    assert first["custom"] == {"assignment": str(numbers[0])}
    assert first["lineItem"] == {
        "scoreMaximum": 20.0, "label": "Sums", "resourceId": f"assignment-{numbers[0]}",
    }  # fmt: skip
    assert frame.post(where, data={"assignment": str(numbers[0])}).status_code == 404, "chosen once"
    with site.database() as session:
        assert session.query(LtiLink).count() == 2


def test_a_student_chooses_no_links(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    client = site.app.test_client()
    where = onward(platform.launch(client, "s-1", **platform.deep_linking()))
    assert client.get(where).status_code == 403
    assert client.get("/lti/choose/nothing").status_code == 404


def test_links_are_chosen_after_connecting(site: Site, platform: LtiPlatform) -> None:
    platform.register(site)
    client = site.app.test_client()
    where = onward(platform.launch(client, "t-1", INSTRUCTOR, **platform.deep_linking()))
    assert site.visitor("ada").get(where).status_code == 403, "what leads to a window is shown to nobody else"
    page = client.get(where).text
    assert "Connect this course first" in page
    opened = client.post(f"/lti/open/{ticket_of(page)}", headers={"Sec-Fetch-Site": "same-origin"})
    assert "Choose an account" in client.get(onward(opened)).text


def test_the_operator_registers_changes_and_removes(site: Site, platform: LtiPlatform) -> None:
    root = promoted(site, "root", Role.OPERATOR)
    given = platform.details()
    form = {
        "title": "School", "issuer": given.issuer, "client_id": CLIENT_ID, "deployments": f"{DEPLOYMENT}\r\n\r\n2:x",
        "key_set_url": given.key_set_url, "auth_login_url": given.auth_login_url,
        "auth_token_url": given.auth_token_url,
    }  # fmt: skip
    assert "begins with https://" in post(root, "/admin/platforms", {**form, "key_set_url": "jwks"}).text
    assert post(root, "/admin/platforms", {**form, "deployments": " "}).status_code == 422
    assert onward(post(root, "/admin/platforms", form)) == "/admin/platforms"
    assert "registered already" in post(root, "/admin/platforms", form).text
    page = root.get("/admin/platforms").text
    assert "/lti/jwks.json" in page
    assert "School" in page
    assert onward(post(root, "/admin/platforms/1", {**form, "title": "Other"})) == "/admin/platforms"
    assert "2:x" in root.get("/admin/platforms/1").text
    keys = root.get("/lti/jwks.json").get_json()["keys"]
    assert [(each["kty"], "d" in each) for each in keys] == [("RSA", False)], "the public half alone"
    assert onward(post(root, "/admin/platforms/1/remove", {}, page="/admin/platforms"))
    assert root.get("/admin/platforms/1").status_code == 404
    assert site.visitor("eve").get("/admin/platforms").status_code == 404


def test_a_closed_account_is_not_let_in(site: Site, platform: LtiPlatform) -> None:
    connected(site, platform)
    client = site.app.test_client()
    newcomer(client, platform.launch(client, "s-1"), "gauss")
    with site.database() as session:
        session.query(User).filter_by(username="gauss").update({"suspended_at": utc_now()})
    again = site.app.test_client()
    assert again.get(onward(platform.launch(again, "s-1"))).status_code == 403
