"""A class by the API: who teaches it and is in it, the members' work, own challenges, and what is being judged."""

from __future__ import annotations

import base64
import io
import tarfile
from datetime import timedelta

import pytest

from judge.packs.collection.uploads import UPLOAD_BYTES
from store.models import Assignment, Class, ClassMember, ClassStaff, OperatorAction, PrivatePack, Role, Submission
from store.operation.administration import rejudge_many
from store.operation.operator_log import Actor
from store.settings import builtin_packs
from tests.integration.web.test_api_teaching import ROSTER, Ask, ask, assignment, contest, joined, site
from tests.integration.web.test_classes import send
from tests.integration.web.timed_site import Clock, promoted
from tests.web_site import H200, Site, accepted
from web.challenges.uploading import most_bytes

__all__ = ["ask", "site"]
WORK = "/classes/1/assignments/1"


@pytest.fixture
def class_of_two(site: Site, ask: Ask, clock: Clock) -> None:
    """A class of euler's with an assignment, with ada and bob in it; ada's section is A."""
    promoted(site, "euler", Role.TEACHER)
    code = ask("euler", "POST", "/classes", {"title": "CUDA"})[1]["code"]
    site.visitor("ada")
    joined(site, ask, code, "ada", "bob")
    assert ask("euler", "POST", "/classes/1/assignments", assignment(clock))[0] == 201


@pytest.mark.usefixtures("class_of_two")
def test_a_class_is_changed_and_deleted_only_when_its_title_is_repeated(site: Site, ask: Ask) -> None:
    status, changed = ask("euler", "PATCH", "/classes/1", {"title": "CUDA, fall", "drops": 2})
    assert (status, changed["title"], changed["drops"], changed["description"]) == (200, "CUDA, fall", 2, "")
    assert ask("euler", "PATCH", "/classes/1", {"description": "Tea."})[1]["title"] == "CUDA, fall"
    assert ask("euler", "PATCH", "/classes/1", {"drops": 0, "description": ""})[1]["drops"] == 0
    assert ask("euler", "PATCH", "/classes/1", {"drops": 51})[1]["fields"].keys() == {"drops"}
    assert ask("euler", "PATCH", "/classes/1", {"title": " "})[1]["fields"].keys() == {"title"}
    assert ask("euler", "DELETE", "/classes/1")[1]["fields"].keys() == {"confirm_title"}
    wrong = ask("euler", "DELETE", "/classes/1?confirm_title=CUDA")
    assert (wrong[0], "It is: CUDA, fall" in wrong[1]["detail"]) == (422, True)
    assert ask("ada", "DELETE", "/classes/1?confirm_title=CUDA, fall")[0] == 404
    status, gone = ask("euler", "DELETE", "/classes/1?confirm_title=CUDA, fall")
    assert (status, gone["number"], gone["members"]) == (200, 1, 2)
    with site.database() as session:
        assert session.query(Class).count() == session.query(ClassMember).count() == 0
        last = session.query(OperatorAction).order_by(OperatorAction.id.desc()).limit(1).one()
        assert last.action == "class deleted"


@pytest.mark.usefixtures("class_of_two")
def test_who_is_in_a_class_and_who_teaches_it_changes(site: Site, ask: Ask) -> None:
    before = ask("euler", "GET", "/classes/1")[1]["code"]
    after = ask("euler", "POST", "/classes/1/code")[1]["code"]
    assert after != before
    assert ask("bob", "POST", "/classes/join", {"code": before, "known_as": "Bob"})[0] == 422
    assert ask("ada", "DELETE", "/classes/1/members/bob")[0] == 404
    assert ask("euler", "DELETE", "/classes/1/members/bob") == (200, {"username": "bob"})
    assert ask("euler", "DELETE", "/classes/1/members/bob")[0] == ask("bob", "GET", "/classes/1")[0] == 404
    assert ask("ada", "POST", "/classes/1/leave")[1]["number"] == 1
    assert ask("ada", "POST", "/classes/1/leave")[0] == 404
    assert ask("euler", "PUT", "/classes/1/roster", {"csv": ROSTER})[0] == 200
    staff = "/classes/1/staff"
    status, shown = ask("euler", "PUT", f"{staff}/bob", {"role": "assistant", "section": "A"})
    assert (status, shown["sections"]) == (200, ["A", "B"])
    assert shown["teachers"][1:] == [{"username": "bob", "role": "assistant", "section": "A"}]
    assert ask("bob", "GET", "/classes/1")[1]["role"] == "assistant"
    assert ask("bob", "PUT", f"{staff}/bob", {"role": "teacher"})[0] == 404, "nobody promotes themselves"
    for name, body, field in (
        ("nobody", {"role": "teacher"}, "username"), ("euler", {"role": "assistant"}, "username"),
        ("bob", {"role": "assistant", "section": "Z"}, "section"), ("bob", {"role": "owner"}, "role"),
    ):  # fmt: skip
        status, refused = ask("euler", "PUT", f"{staff}/{name}", body)
        assert (status, list(refused["fields"])) == (422, [field])
    assert ask("euler", "DELETE", f"{staff}/bob") == (200, {"username": "bob"})
    assert ask("euler", "DELETE", f"{staff}/bob")[0] == ask("bob", "GET", "/classes/1")[0] == 404
    with site.database() as session:
        assert session.query(ClassStaff).count() == 0


@pytest.mark.usefixtures("class_of_two")
def test_the_matrix_attempts_and_similar_sources_are_those_of_the_pages(site: Site, ask: Ask, clock: Clock) -> None:
    text = (builtin_packs() / "vector-add" / "submissions" / "accepted" / "grid_stride.cu").read_text()
    ada_browser = site.visitor("ada")
    sent = [send(site, ada_browser, clock, hour, "vector-add", source=text) for hour in (13.1, 13.2)]
    clock.now = clock.at(14)
    found = ask("euler", "GET", "/classes/1/matrix")[1]
    assert found["columns"] == [{"assignment": 1, "title": "Sums", "challenge": "vector-add"}]
    assert found["filters"] == {"stuck": 0, "not_begun": 1, "late": 0}
    ada, bob = found["rows"]
    assert (ada["username"], ada["cells"][0]["tries"], ada["cells"][0]["verdict"]) == ("ada", 2, "AC")
    assert (ada["cells"][0]["points"], bob["cells"][0]["points"], bob["cells"][0]["begun"]) == (100, 0, False)
    idle = ask("euler", "GET", "/classes/1/matrix?show=not-begun")[1]["rows"]
    assert [row["username"] for row in idle] == ["bob"]
    assert ask("euler", "GET", "/classes/1/matrix?section=A")[1]["rows"] == []
    assert ask("euler", "GET", "/classes/1/matrix?show=nothing")[0] == 422
    work = ask("euler", "GET", f"{WORK}/attempts/ada")[1]
    assert [(each["submission"], each["graded"]) for each in work["attempts"]] == [(sent[1], False), (sent[0], True)]
    assert ask("euler", "GET", f"{WORK}/attempts/ada?challenge=softmax")[0] == 404
    assert ask("euler", "GET", f"{WORK}/attempts/eve")[0] == 404
    assert ask("euler", "GET", f"{WORK}/similarity")[1]["pairs"] == []
    token = {"Authorization": f"Bearer {site.token_of('bob')}"}
    body = {"challenge": "vector-add", "device": H200.key, "source": text.replace("stride", "step")}
    copied = site.app.test_client().post("/api/v1/submissions", json=body, headers=token).get_json()["id"]
    site.work(device=H200, cases=accepted("n-1"))
    [pair] = ask("euler", "GET", f"{WORK}/similarity")[1]["pairs"]
    assert {pair["left"]["submission"], pair["right"]["submission"]} == {sent[0], copied}
    assert (pair["share"] > 0.9, pair["passages"] > 0) == (True, True)


@pytest.mark.usefixtures("class_of_two")
def test_grades_say_how_many_submissions_are_judged_again_and_leave_their_points_out(
    site: Site, ask: Ask, clock: Clock
) -> None:
    ada, teacher = site.visitor("ada"), site.visitor("euler")
    for hour in (13.1, 13.2):
        send(site, ada, clock, hour, "vector-add")
    clock.now = clock.at(21)
    path = "/classes/1/grades"
    before = ask("euler", "GET", path)[1]
    assert (before["waiting"], before["judged_again"], before["grades"][0]["total"]) == (0, 0, 1)
    with site.database() as session:
        rejudge_many(
            session, Actor("root", None, ""), "vector-add", "new", digest="",
            judged_before=clock.now + timedelta(hours=1), limit=9, now=clock.now,
        )  # fmt: skip
    token = {"Authorization": f"Bearer {site.token_of('bob')}"}
    body = {"challenge": "vector-add", "device": H200.key, "source": "// new"}
    assert site.app.test_client().post("/api/v1/submissions", json=body, headers=token).status_code == 201
    again = ask("euler", "GET", path)[1]
    assert (again["waiting"], again["judged_again"]) == (3, 2)
    for row in again["grades"]:
        work, [grade] = row["assignments"][0], row["assignments"][0]["challenges"]
        assert (row["total"], work["counted"], work["points"], grade["points"]) == (None, None, None, None)
        assert (grade["outcome"], grade["submission"], grade["waiting"]) == (None, None, True)
    own = ask("bob", "GET", path)[1]
    assert (own["waiting"], own["judged_again"]) == (1, 0), "members learn of their own work alone"
    assert [row["counted"] for row in ask("euler", "GET", "/classes/1/members")[1]["members"]] == [None, None]
    assert ask("ada", "GET", WORK)[1]["own_points"] is None
    for page in ("/classes/1", "/classes/1/matrix", "/classes/1/assignments/1"):
        assert "3 submissions are being judged, 2 of them again" in teacher.get(page).text, page
    client = site.app.test_client()
    answer = client.get("/api/v1/classes/1/grades.csv", headers={"Authorization": f"Bearer {site.token_of('euler')}"})
    assert answer.headers["Gpujudge-Being-Judged"] == "3"
    assert answer.text.splitlines()[1].endswith(",,,")
    for _ in range(3):
        site.work(device=H200, cases=accepted("n-1"))
    after = ask("euler", "GET", path)[1]
    assert after["grades"][0] == before["grades"][0]
    assert (after["waiting"], after["judged_again"]) == (0, 0)
    assert "being judged" not in teacher.get("/classes/1").text


def packed(name: str = "sums") -> str:
    """Returns a tar.gz of a pack's folder, in base64."""
    home, archive = builtin_packs() / "vector-add", io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as file:
        for each in ("challenge.toml", "reference.py", "statement.md"):
            file.add(home / each, f"{name}/{each}")
    return base64.b64encode(archive.getvalue()).decode()


@pytest.mark.usefixtures("class_of_two")
def test_own_challenges_of_classes_and_contests_are_uploaded_listed_and_deleted(
    site: Site, ask: Ask, clock: Clock
) -> None:
    assert ask("euler", "POST", "/contests", contest(clock))[0] == 201
    for path, slug in (("/classes/1/challenges", "class-1-sums"), ("/contests/friday/challenges", "contest-1-sums")):
        body = {"name": "sums.tar.gz", "archive": packed()}
        assert ask("ada", "POST", path, body)[0] == ask("ada", "GET", path)[0] == 404
        status, made = ask("euler", "POST", path, body)
        assert (status, made["challenge"], made["waits"], made["accepted"]) == (202, slug, True, None)
        for wrong in ({**body, "archive": each} for each in ("no base64!", "AAAA", "7ùYC")):
            status, refused = ask("euler", "POST", path, wrong)
            assert (status, list(refused["fields"])) == (422, ["archive"])
        with site.database() as session:
            row = session.query(PrivatePack).filter_by(slug=slug).one()
            row.waits, row.accepted, row.verified_at = False, False, clock.now
            row.findings = [{"severity": "error", "where": "challenge.toml", "message": "no kernel is accepted"}]
        [listed] = ask("euler", "GET", path)[1]["challenges"]
        assert (listed["accepted"], listed["findings"][0]["message"]) == (False, "no kernel is accepted")
        assert ask("euler", "DELETE", f"{path}/no-such")[0] == ask("ada", "DELETE", f"{path}/{slug}")[0] == 404
        assert ask("euler", "DELETE", f"{path}/{slug}")[1]["challenge"] == slug
        assert ask("euler", "GET", path)[1] == {"challenges": []}


def test_a_challenge_that_is_named_is_not_deleted(site: Site, ask: Ask, clock: Clock) -> None:
    promoted(site, "euler", Role.TEACHER)
    ask("euler", "POST", "/classes", {"title": "CUDA"})
    ask("euler", "POST", "/classes/1/challenges", {"name": "sums.tar.gz", "archive": packed()})
    ask("euler", "POST", "/classes/1/assignments", assignment(clock))
    with site.database() as session:
        session.get_one(Assignment, 1).challenges[0].challenge = "class-1-sums"
    status, refused = ask("euler", "DELETE", "/classes/1/challenges/class-1-sums")
    assert (status, "Sums" in refused["detail"]) == (409, True)


def test_the_api_takes_as_large_archives_as_the_page() -> None:
    for owner in ("classes/1", "contests/friday"):
        page, api = (most_bytes("POST", f"{at}/{owner}/challenges") for at in ("", "/api/v1"))
        assert page > UPLOAD_BYTES
        assert api > len(base64.b64encode(bytes(UPLOAD_BYTES)))
        assert most_bytes("GET", f"/api/v1/{owner}/challenges") == most_bytes("POST", f"/api/v1/{owner}")


def test_an_organizer_has_all_challenges_tried(site: Site, ask: Ask, clock: Clock) -> None:
    promoted(site, "euler", Role.TEACHER)
    ask("euler", "POST", "/contests", contest(clock, challenges=["vector-add", "softmax"]))
    path = "/contests/friday/trial"
    assert [run["submission"] for run in ask("euler", "GET", path)[1]["runs"]] == [None, None]
    assert ask("euler", "POST", path) == (202, {"sent": 2, "refused": []})
    site.work(device=H200, cases=accepted("n-1"))
    runs = {run["challenge"]: run for run in ask("euler", "GET", path)[1]["runs"]}
    assert (runs["vector-add"]["verdict"], runs["softmax"]["state"]) == ("AC", "queued")
    site.add_user("bob")
    assert ask("bob", "GET", path)[0] == ask("bob", "POST", path)[0] == 404
    with site.database() as session:
        assert {row.mode for row in session.query(Submission)} == {"run"}
