"""Classes and contests by the API: what a teacher, a member and an assistant get, and what they may not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from store.models import Class, ClassMember, OperatorAction, Role, StaffRole, User
from store.people.accounts import find_user
from store.teaching.rights import add_staff
from tests.integration.web.test_classes import FORM, PAGE, assign, send
from tests.integration.web.timed_site import Clock, promoted
from tests.web_site import H200, Site

Ask = Callable[..., tuple[int, Any]]
ROSTER = "name,e-mail,SIS id,section\nAda L.,ada@example.org,7,A\nBob B.,bob@example.org,8,B\n"


@pytest.fixture
def site(timed_site: Site) -> Site:
    return timed_site


@pytest.fixture
def ask(site: Site) -> Ask:
    """Sends a request with a user's token, or nobody's, and returns the status and the JSON."""
    client, tokens = site.app.test_client(), dict[str, str]()

    def ask(name: str, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        if name and name not in tokens:
            tokens[name] = site.token_of(name)
        headers = {"Authorization": f"Bearer {tokens[name]}"} if name else {}
        answer = client.open(f"/api/v1{path}", method=method, json=body, headers=headers)
        return answer.status_code, answer.get_json() if answer.is_json else answer.text

    return ask


def joined(site: Site, ask: Ask, code: str, *names: str) -> None:
    for name in names:
        if name != "ada":  # has a browser already
            site.add_user(name)
        status, _ = ask(name, "POST", "/classes/join", {"code": code, "known_as": name.capitalize()})
        assert status == 200


def test_a_class_from_its_making_to_its_grades(site: Site, ask: Ask, clock: Clock) -> None:
    teacher = promoted(site, "euler", Role.TEACHER)
    status, made = ask("euler", "POST", "/classes", {"title": "CUDA", "drops": 1})
    assert (status, made["number"], made["role"], made["drops"]) == (201, 1, "owner", 1)
    assert assign(teacher, clock, f"{PAGE}/assignments/new").status_code == 303
    ada = site.visitor("ada")
    joined(site, ask, made["code"].upper(), "ada", "bob")
    assert ask("ada", "GET", "/classes/1/assignments")[1] == {"assignments": []}  # it is not open yet
    clock.now = clock.at(13)
    sent = send(site, ada, clock, 13.3, FORM["challenges"].split(",")[0])
    [assignment] = ask("ada", "GET", "/classes/1/assignments")[1]["assignments"]
    assert (assignment["own_points"], assignment["own_counted"]) == (50, 1)
    [own] = ask("ada", "GET", "/classes/1/grades")[1]["grades"]
    assert own["username"] == "ada"
    grades = {row["username"]: row for row in ask("euler", "GET", "/classes/1/grades?assignment=1")[1]["grades"]}
    assert set(grades) == {"ada", "bob"}
    [first, second] = grades["ada"]["assignments"][0]["challenges"]
    assert (first["submission"], first["outcome"], first["points"]) == (sent, "counts", 50)
    assert (second["submission"], second["outcome"]) == (None, None)
    status, text = ask("euler", "GET", "/classes/1/grades.csv")
    assert status == 200
    assert text == teacher.get(f"{PAGE}/grades.csv").text
    assert ask("euler", "GET", "/classes/1/grades.csv?assignment=1")[1].startswith("name,user,section,due")
    assert ask("euler", "GET", "/classes/1/grades.csv?form=moodle")[1].startswith("Email address")
    assert ask("euler", "GET", "/classes/1/grades.csv?form=moodle&assignment=1")[0] == 422
    members = ask("euler", "GET", "/classes/1/members")[1]["members"]
    assert [(row["username"], row["known_as"], row["counted"]) for row in members] == [
        ("ada", "Ada", 1),
        ("bob", "Bob", 0),
    ]
    with site.database() as session:
        assert [row.action for row in session.query(OperatorAction)] == ["class made", "assignment made"]


def test_members_see_no_codes_and_no_other_members(site: Site, ask: Ask) -> None:
    promoted(site, "euler", Role.TEACHER)
    code = ask("euler", "POST", "/classes", {"title": "CUDA"})[1]["code"]
    joined(site, ask, code, "bob")
    status, shown = ask("bob", "GET", "/classes/1")
    assert (status, shown["code"], shown["members"], shown["role"]) == (200, None, None, "member")
    for path in ("/members", "/roster", "/grades.csv"):
        assert ask("bob", "GET", f"/classes/1{path}")[0] == 404
    assert ask("bob", "PUT", "/classes/1/roster", {"csv": ROSTER})[0] == 404
    assert ask("bob", "POST", "/classes", {"title": "Mine"})[0] == 404


def test_an_assistant_of_a_section_gets_its_members_alone(site: Site, ask: Ask) -> None:
    promoted(site, "euler", Role.TEACHER)
    assert ask("euler", "POST", "/classes", {"title": "CUDA"})[0] == 201
    for name in ("ada", "bob", "tom"):
        site.add_user(name)
        with site.database() as session:
            user = session.query(User).filter_by(username=name).one()
            user.email = user.email_key = f"{name}@example.org"
    assert ask("euler", "PUT", "/classes/1/roster", {"csv": ROSTER})[1] == {
        "new": 2,
        "changed": 0,
        "joined": 2,
        "left": 0,
    }
    with site.database() as session:
        tom = find_user(session, "tom")
        assert tom is not None
        add_staff(session, session.get_one(Class, 1), user_id=tom.id, role=StaffRole.ASSISTANT, section="B")
    assert [row["username"] for row in ask("tom", "GET", "/classes/1/members")[1]["members"]] == ["bob"]
    assert [row["username"] for row in ask("tom", "GET", "/classes/1/grades")[1]["grades"]] == ["bob"]
    assert ask("tom", "GET", "/classes/1/grades.csv")[1].count("\n") == 2
    shown = ask("tom", "GET", "/classes/1")[1]
    assert (shown["role"], shown["code"], shown["members"]) == ("assistant", None, 1)
    assert ask("tom", "GET", "/classes/1/roster")[0] == 404
    entries = ask("euler", "GET", "/classes/1/roster")[1]["entries"]
    assert [(row["username"], row["member"], row["section"]) for row in entries] == [
        ("ada", True, "A"),
        ("bob", True, "B"),
    ]
    status, refused = ask("euler", "PUT", "/classes/1/roster", {"csv": "name,e-mail\nAda,nothing\n"})
    assert (status, refused["fields"]["csv"][:6]) == (422, "Line 2")
    with site.database() as session:
        assert session.query(ClassMember).count() == 2


def test_a_copy_opens_when_it_is_told_to(site: Site, ask: Ask, clock: Clock) -> None:
    teacher = promoted(site, "euler", Role.TEACHER)
    ask("euler", "POST", "/classes", {"title": "CUDA"})
    assign(teacher, clock, f"{PAGE}/assignments/new")
    later = (clock.at(13) + timedelta(days=200)).isoformat()
    assert ask("euler", "POST", "/classes", {"title": "Autumn", "copy_of": 1})[0] == 422
    status, made = ask("euler", "POST", "/classes", {"title": "Autumn", "copy_of": 1, "opens_at": later})
    assert (status, made["number"]) == (201, 2)
    [copied] = ask("euler", "GET", "/classes/2/assignments")[1]["assignments"]
    assert copied["opens_at"][:16] == later[:16]
    assert ask("euler", "POST", "/classes", {"title": "No", "copy_of": 77, "opens_at": later})[0] == 404


def contest(clock: Clock, **changes: Any) -> dict[str, Any]:
    return {
        "slug": "friday", "title": "Friday", "challenges": ["vector-add"], "devices": [H200.key],
        "starts_at": clock.at(13).isoformat(), "ends_at": clock.at(15).isoformat(), **changes,
    }  # fmt: skip


def test_a_contest_is_made_changed_copied_and_deleted(site: Site, ask: Ask, clock: Clock) -> None:
    promoted(site, "euler", Role.TEACHER)
    status, made = ask(
        "euler", "POST", "/contests", contest(clock, code="tea", scoring="targets", targets=["vector-add=120us"])
    )
    assert status == 201
    assert made["targets_s"] == {"vector-add": pytest.approx(1.2e-4)}
    assert (made["needs_code"], made["settings"]["code"], made["state"]) == (True, "tea", "coming")
    assert ask("euler", "POST", "/contests", contest(clock))[0] == 409
    status, refused = ask("euler", "POST", "/contests", contest(clock, slug="b", challenges=["vector-ad"]))
    assert (status, "Nearest: vector-add" in refused["fields"]["challenges"]) == (422, True)
    status, changed = ask(
        "euler", "PATCH", "/contests/friday", {"title": "Freitag", "frozen_at": clock.at(14).isoformat()}
    )
    assert (status, changed["title"], changed["frozen_at"][:16]) == (200, "Freitag", clock.at(14).isoformat()[:16])
    assert changed["targets_s"] == made["targets_s"]
    assert ask("euler", "PATCH", "/contests/friday", {"frozen_at": None})[1]["frozen_at"] is None
    assert ask("euler", "PATCH", "/contests/friday", {"ends_at": clock.at(12).isoformat()})[0] == 422
    times = {"starts_at": clock.at(16).isoformat(), "ends_at": clock.at(17).isoformat()}
    status, copied = ask("euler", "POST", "/contests", {"slug": "next", "copy_of": "friday", **times})
    assert (status, copied["title"], copied["settings"]["code"]) == (201, "Freitag", "tea")
    status, copied = ask("euler", "POST", "/contests", {"slug": "c", "copy_of": "friday", "title": None, **times})
    assert (status, copied["title"]) == (201, "Freitag")
    assert ask("euler", "DELETE", "/contests/c")[0] == 200
    assert ask("euler", "DELETE", "/contests/next")[0] == 200
    assert ask("", "GET", "/contests/next")[0] == 404
    site.add_user("bob")
    assert ask("bob", "POST", "/contests/friday/join", {"code": "coffee"})[1]["fields"].keys() == {"code"}
    assert ask("bob", "POST", "/contests/friday/join", {"code": "tea"})[1]["takes_part"] is True
    assert ask("euler", "DELETE", "/contests/friday")[0] == 409
    assert [row["name"] for row in ask("", "GET", "/contests/friday/standings")[1]["standings"]] == ["bob"]
    assert ask("bob", "POST", "/contests/friday/leave")[1]["takes_part"] is False
    shown = ask("bob", "GET", "/contests/friday")[1]
    assert (shown["settings"], shown["members"]) == (None, 0)
    assert ask("", "GET", "/contests")[1]["contests"][0]["contest"] == "friday"


def test_standings_are_as_the_page_shows_them(site: Site, ask: Ask, clock: Clock) -> None:
    promoted(site, "euler", Role.TEACHER)
    ask("euler", "POST", "/contests", contest(clock, frozen_at=clock.at(14).isoformat(), team_size=2))
    site.add_user("bob")
    refused = ask("bob", "POST", "/contests/friday/join", {})
    assert (refused[0], refused[1]["fields"].keys()) == (422, {"team_name"})
    assert ask("bob", "POST", "/contests/friday/join", {"team_name": "The Warps"})[1]["team"] == "The Warps"
    clock.now = clock.at(14.5)
    found = ask("", "GET", "/contests/friday/standings")[1]
    assert (found["frozen"], found["entrants"], found["standings"][0]["name"]) == (True, 1, "The Warps")
    clock.now = clock.at(15)
    assert ask("bob", "POST", "/contests/friday/leave")[0] == 409


def assignment(clock: Clock, **changes: Any) -> dict[str, Any]:
    return {"title": "Sums", "challenges": ["vector-add"], "due_at": clock.at(20).isoformat(), **changes}


def test_an_assignment_is_made_changed_extended_and_deleted(site: Site, ask: Ask, clock: Clock) -> None:
    promoted(site, "euler", Role.TEACHER)
    code = ask("euler", "POST", "/classes", {"title": "CUDA"})[1]["code"]
    site.visitor("ada")
    joined(site, ask, code, "ada", "bob")
    path = "/classes/1/assignments"
    assert ask("ada", "POST", path, assignment(clock))[0] == 404
    # Generated clients send null for whatever they were not given.
    nulls = dict.fromkeys(("opens_at", "device", "taken", "times", "shows_hints"))
    given = assignment(clock, counts="best", least_percent=80, late_percent=0, **nulls)
    status, made = ask("euler", "POST", path, given)
    assert status == 201
    assert (made["counts"], made["least_percent"], made["late_percent"]) == ("best", 80, 0)
    assert (made["points"], made["accepted_percent"], made["shows_hints"]) == (100, 50, True)
    assert ask("ada", "GET", f"{path}/1")[1] == {**made, "own_points": 0, "own_counted": 0}
    status, changed = ask("euler", "PATCH", f"{path}/1", {"title": "More sums", "shows_hints": False})
    assert status == 200
    assert changed == {**made, "title": "More sums", "shows_hints": False}
    for wrong, field in (
        ({"challenges": ["vector-ad"]}, "challenges"), ({"counts": "plain"}, "counts"),
        ({"due_at": clock.at(1).isoformat()}, "due_at"), ({"device": "no-device"}, "device"),
    ):  # fmt: skip
        status, refused = ask("euler", "PATCH", f"{path}/1", wrong)
        assert (status, list(refused["fields"])) == (422, [field])
    later = clock.at(30).isoformat()
    status, refused = ask("euler", "POST", f"{path}/1/extensions", {"usernames": ["ada", "eve"], "due_at": later})
    assert (status, "eve" in refused["fields"]["usernames"]) == (422, True)
    assert ask("ada", "GET", f"{path}/1")[1]["due_at"] == made["due_at"], "all or nobody"
    assert ask("euler", "POST", f"{path}/1/extensions", {})[0] == 422
    status, extended = ask("euler", "POST", f"{path}/1/extensions", {"usernames": ["Ada"], "due_at": later})
    assert (status, extended["usernames"]) == (200, ["ada"])
    assert ask("ada", "GET", f"{path}/1")[1]["due_at"] == extended["due_at"] != made["due_at"]
    assert ask("bob", "GET", f"{path}/1")[1]["due_at"] == made["due_at"]
    assert ask("euler", "DELETE", f"{path}/1")[1]["title"] == "More sums"
    assert ask("euler", "GET", f"{path}/1")[0] == 404
    with site.database() as session:
        assert [row.action for row in session.query(OperatorAction)] == [
            "class made", "assignment made", "assignment changed", "assignment extended", "assignment deleted",
        ]  # fmt: skip


def test_comments_are_written_answered_changed_and_deleted(site: Site, ask: Ask, clock: Clock) -> None:
    promoted(site, "euler", Role.TEACHER)
    code = ask("euler", "POST", "/classes", {"title": "CUDA"})[1]["code"]
    ada = site.visitor("ada")
    joined(site, ask, code, "ada", "bob")
    ask("euler", "POST", "/classes/1/assignments", assignment(clock))
    public_id = send(site, ada, clock, 13.1, "vector-add", source="// one\n// two")
    path = f"/submissions/{public_id}/comments"
    assert ask("bob", "GET", path)[0] == ask("bob", "POST", path, {"line": 1, "text": "Hm"})[0] == 404
    assert ask("ada", "POST", path, {"line": 1, "text": "Hm"})[1]["fields"].keys() == {"line"}
    refused = ask("euler", "POST", path, {"line": 9, "text": "Hm"})[1]
    assert refused["fields"] == {"line": "The source has lines 1 to 2."}
    assert ask("euler", "POST", path, {"line": 1, "text": "x" * 2001})[1]["fields"].keys() == {"text"}
    status, made = ask("euler", "POST", path, {"line": 2, "text": "Why?"})
    assert (status, made["line"], made["author"], made["changed_at"]) == (201, 2, "euler", None)
    found = ask("ada", "GET", path)[1]
    assert (found["comments"][0]["unread"], found["may_begin"], found["may_answer"]) == (True, False, True)
    assert ask("ada", "POST", path, {"line": 2, "text": "Because."})[0] == 201
    one = f"{path}/{made['number']}"
    assert ask("ada", "PATCH", one, {"text": "Mine"})[0] == ask("ada", "DELETE", one)[0] == 404
    assert ask("euler", "PATCH", one, {"text": "Why not?"})[1]["text"] == "Why not?"
    assert ask("euler", "PATCH", one, {"text": " "})[1]["fields"].keys() == {"text"}
    assert ask("euler", "DELETE", one)[1]["text"] == "Why not?"
    assert [each["text"] for each in ask("euler", "GET", path)[1]["comments"]] == ["Because."]
    # Whoever sees the page of a submission reads it by the API.
    assert ask("euler", "GET", f"/submissions/{public_id}/source") == (200, "// one\n// two")
    assert ask("euler", "GET", f"/submissions/{public_id}")[1]["verdict"] == "AC"
    assert ask("euler", "POST", f"/submissions/{public_id}/cancel")[0] == 404


def test_an_organizer_lists_what_counts_in_pages(site: Site, ask: Ask, clock: Clock) -> None:
    promoted(site, "euler", Role.TEACHER)
    ask("euler", "POST", "/contests", contest(clock, frozen_at=clock.at(14).isoformat(), hides_challenges=False))
    ada = site.visitor("ada")
    ask("ada", "POST", "/contests/friday/join", {})
    sent = [send(site, ada, clock, hour, "vector-add") for hour in (13.1, 14.2)]
    path = "/contests/friday/submissions"
    assert ask("", "GET", path)[0] == 401
    assert ask("ada", "GET", path)[0] == 404
    first = ask("euler", "GET", f"{path}?limit=1")[1]
    assert [(row["id"], row["username"], row["frozen"]) for row in first["submissions"]] == [(sent[1], "ada", True)]
    assert f"before={sent[1]}" in first["next"]
    second = ask("euler", "GET", f"{path}?before={sent[1]}")[1]
    assert ([row["id"] for row in second["submissions"]], second["next"]) == ([sent[0]], None)
    assert ask("euler", "GET", f"{path}?verdict=WA")[1]["submissions"] == []


def test_a_token_that_is_not_valid_is_refused_where_none_is_needed(site: Site) -> None:
    answer = site.app.test_client().get("/api/v1/contests", headers={"Authorization": "Bearer nonsense"})
    assert answer.status_code == 401
