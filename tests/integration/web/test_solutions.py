"""Solutions: open to who solved the challenge or gave it up, and what giving up costs."""

from __future__ import annotations

import json
import zipfile
from datetime import timedelta
from io import BytesIO

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from judge.measurements import Measurement
from store.models import Assignment, Class, Contest, Role, State
from store.people.accounts import find_user
from store.people.personal_data import close_account
from store.teaching import classes, contests
from tests.assignments import add_assignment
from tests.web_site import H200, KERNEL, Site, accepted, post, timed, wrong

CHALLENGE = "/challenges/vector-add"
SOLUTIONS = f"{CHALLENGE}/solutions"
API = f"/api/v1{SOLUTIONS}"
RANKING = "/api/v1/ranking"
BOARD = f"/api/v1/leaderboards/vector-add?device={H200.key}"
SECRET = "// nobody but them reads this\n"


def enter(
    site: Site, username: str, measurement: Measurement | None = None, *, mode: str = "submit", source: str = KERNEL
) -> str:
    """Sends a submission, has it judged (wrong without a measurement) and returns its id."""
    site.add_device(H200)
    data = {"source": source, "device": H200.key, "mode": mode}
    sent = post(site.visitor(username), f"{CHALLENGE}/submissions", data, page=CHALLENGE)
    cases = accepted("n-1") if measurement is not None or mode == "run" else (wrong(),)
    site.work(device=H200, cases=cases, measurement=measurement)
    return str(sent.location).rsplit("/", 1)[1]


def publish(site: Site, username: str, public_id: str, **fields: str) -> TestResponse:
    path = f"/submissions/{public_id}"
    return post(site.visitor(username), f"{path}/publish", fields, page=path)


def give_up(client: FlaskClient) -> TestResponse:
    return post(client, f"{CHALLENGE}/give-up", {"sure": "1"}, page=SOLUTIONS)


@pytest.fixture
def published(site: Site) -> str:
    """A solution of ada's."""
    public_id = enter(site, "ada", timed(), source=KERNEL + SECRET)
    assert publish(site, "ada", public_id).status_code == 303
    return public_id


def test_solutions_are_closed_until_one_has_solved_the_challenge(site: Site, published: str) -> None:
    bob = site.visitor("bob")
    pages = (f"{SOLUTIONS}/{published}", f"{SOLUTIONS}/{published}/kernel.cu")
    token = {"Authorization": f"Bearer {site.token_of('bob')}"}
    for client in (site.app.test_client(), bob):
        shown = client.get(SOLUTIONS).text
        assert "Solve it first" in shown
        assert "1 published solution," in shown
        assert published not in shown
        assert "cuda_runtime" not in shown
    assert "Log in" in site.app.test_client().get(SOLUTIONS).text
    for path in pages:
        answer = bob.get(path)
        assert answer.status_code == 403
        assert "or give up, to see solutions" in answer.text
        assert SECRET not in answer.text
    assert site.app.test_client().get(API, headers=token).get_json()["code"] == "solutions_closed"
    enter(site, "bob")
    enter(site, "bob", mode="run")
    assert bob.get(pages[0]).status_code == 403
    enter(site, "bob", timed(2e-4))
    shown = bob.get(SOLUTIONS).text
    assert published in shown
    assert "Step by step" in shown
    assert "nobody but them" in bob.get(pages[0]).text
    assert bob.get(pages[1]).text == KERNEL + SECRET


def test_the_api_gives_steps_and_solutions(site: Site, published: str) -> None:
    enter(site, "bob", timed(2e-4))
    token = {"Authorization": f"Bearer {site.token_of('bob')}"}
    client = site.app.test_client()
    found = client.get(API, headers=token).get_json()
    assert [step["name"] for step in found["steps"]] == ["plain", "tuned"]
    assert all("solve(" in step["source"] and step["change"] for step in found["steps"])
    plain, tuned = (step["measured"] for step in found["steps"])
    assert plain["gain"] is None
    assert tuned["gain"] == plain["time_s"] / tuned["time_s"]
    assert [(one["id"], one["username"], one["likes"]) for one in found["solutions"]] == [(published, "ada", 0)]
    assert client.get(f"{API}/{published}/source", headers=token).data == (KERNEL + SECRET).encode()
    assert client.get(f"{API}/nothing/source", headers=token).status_code == 404
    assert client.get(f"{API}?page=7", headers=token).get_json()["solutions"] == []


def test_only_an_accepted_submission_of_one_s_own_is_published(site: Site, published: str) -> None:
    failed, ran = enter(site, "bob"), enter(site, "bob", mode="run")
    for public_id in (failed, ran):
        page = f"/submissions/{public_id}"
        assert "Publish as a solution" not in site.visitor("bob").get(page).text
        answer = publish(site, "bob", public_id)
        assert answer.status_code == 422
        assert "only an accepted submission" in answer.text.lower()
    assert (
        post(site.visitor("bob"), f"/submissions/{published}/publish", {"withdraw": "1"}, page=SOLUTIONS).status_code
        == 404
    )


def test_a_second_solution_takes_the_place_of_the_first_until_it_is_withdrawn(site: Site, published: str) -> None:
    second = enter(site, "ada", timed(1e-4))
    publish(site, "ada", second)
    shown = site.visitor("ada").get(SOLUTIONS).text
    assert second in shown
    assert published not in shown
    assert "Published solutions" in site.app.test_client().get("/users/ada").text
    publish(site, "ada", second, withdraw="1")
    assert "Nobody has published one yet" in site.visitor("ada").get(SOLUTIONS).text
    assert "Published solutions" not in site.app.test_client().get("/users/ada").text
    assert site.visitor("ada").get(f"{SOLUTIONS}/{second}").status_code == 404


def test_what_is_off_its_board_is_no_solution(site: Site, published: str) -> None:
    with site.database() as session:
        session.merge(site.submission(published)).off_board = "copied"
    assert published not in site.visitor("ada").get(SOLUTIONS).text
    assert site.visitor("ada").get(f"{SOLUTIONS}/{published}").status_code == 404
    assert publish(site, "ada", published, withdraw="1").status_code == 303
    assert publish(site, "ada", published).status_code == 422


def test_a_user_likes_a_solution_once_and_not_the_own(site: Site, published: str) -> None:
    enter(site, "bob", timed(2e-4))
    page = f"{SOLUTIONS}/{published}"
    for username, likes in (("bob", 1), ("bob", 1), ("ada", 1)):
        client = site.visitor(username)
        assert post(client, f"{page}/like", {}, page=SOLUTIONS if username == "ada" else page).status_code == 303
        assert f"{likes} like<" in client.get(page).text
    assert "Remove your like" in site.visitor("bob").get(page).text
    assert "Remove your like" not in site.visitor("ada").get(page).text
    post(site.visitor("bob"), f"{page}/like", {"unlike": "1"}, page=page)
    assert "0 likes" in site.visitor("bob").get(page).text


def test_the_most_liked_comes_first(site: Site, published: str) -> None:
    other = enter(site, "bob", timed(2e-4))
    publish(site, "bob", other)
    client = site.visitor("ada")
    shown = client.get(SOLUTIONS).text
    assert shown.index(other) < shown.index(published)  # the newest first
    page = f"{SOLUTIONS}/{published}"
    post(site.visitor("bob"), f"{page}/like", {}, page=page)
    shown = client.get(SOLUTIONS).text
    assert shown.index(published) < shown.index(other)


def test_who_gives_up_reads_at_once_and_has_no_place_from_then_on(site: Site, published: str) -> None:
    bob = site.visitor("bob")
    before = enter(site, "bob")
    assert post(bob, f"{CHALLENGE}/give-up", {}, page=SOLUTIONS).status_code == 422
    assert "Solve it first" in bob.get(SOLUTIONS).text
    assert give_up(bob).status_code == 303
    assert "nobody but them" in bob.get(f"{SOLUTIONS}/{published}").text
    marked = enter(site, "bob", timed(1e-5))
    assert "after giving up" not in bob.get(f"/submissions/{before}").text
    shown = bob.get(f"/submissions/{marked}").text
    assert "It was sent after you gave up this challenge" in shown
    board = site.app.test_client().get(BOARD).get_json()
    assert [entry["username"] for entry in board["entries"]] == ["ada"]
    assert [(one["username"], one["submission"]) for one in board["after_giving_up"]] == [("bob", marked)]
    page = site.app.test_client().get(f"/leaderboards/vector-add?device={H200.key}").text
    assert page.index("/users/ada") < page.index("After giving up") < page.index("/users/bob")
    ranking = site.app.test_client().get(RANKING).get_json()
    assert [row["username"] for row in ranking["entries"]] == ["ada"]
    status = site.app.test_client().get(
        f"/api/v1/submissions/{marked}", headers={"Authorization": f"Bearer {site.token_of('bob')}"}
    )
    assert status.get_json()["after_giving_up"] is True
    publish(site, "bob", marked)
    assert "after giving up" in site.visitor("ada").get(f"{SOLUTIONS}/{marked}").text


def test_a_board_of_nothing_but_marked_scores_says_so(site: Site) -> None:
    bob = site.visitor("bob")
    give_up(bob)
    enter(site, "bob", timed(2e-5))
    enter(site, "bob", timed(1e-5))
    board = site.app.test_client().get(BOARD).get_json()
    assert board["entries"] == []
    assert [one["value"] for one in board["after_giving_up"]] == [1e-5]
    shown = bob.get(f"/leaderboards/vector-add?device={H200.key}").text
    assert "Nobody is on this board yet" in shown
    assert "your submission" in shown


def test_who_has_solved_a_challenge_cannot_give_it_up(site: Site) -> None:
    enter(site, "bob", timed())
    bob = site.visitor("bob")
    assert "Give up and show" not in bob.get(SOLUTIONS).text
    assert give_up(bob).status_code == 303
    assert "you have solved this challenge" in bob.get(SOLUTIONS).text.lower()
    enter(site, "bob", timed(1e-5))
    assert site.app.test_client().get(BOARD).get_json()["after_giving_up"] == []


def test_solutions_are_closed_during_a_contest_and_marked_results_do_not_count_in_it(site: Site) -> None:
    enter(site, "ada", timed())
    give_up(site.visitor("eve"))
    now, day = site.services.clock(), timedelta(days=1)
    with site.database() as session:
        contest = Contest(
            slug="friday",
            title="Friday",
            description="",
            starts_at=now - day,
            ends_at=now + day,
            scoring="points",
            devices=H200.key,
            created_at=now,
        )
        contests.set_challenges(contest, ["vector-add"])
        session.add(contest)
        session.flush()
        for name in ("ada", "eve"):
            user = find_user(session, name)
            assert user is not None
            contests.join(session, contest, user_id=user.id, now=now)
    marked = enter(site, "eve", timed(1e-5))
    enter(site, "ada", timed(2e-4))
    for name in ("ada", "eve"):
        assert "are closed until" in site.visitor(name).get(SOLUTIONS).text
    rows = site.app.test_client().get("/contests/friday/standings.json").get_json()["standings"]
    assert [(row["user"], row["rank"]) for row in rows] == [("ada", 1), ("eve", 2)]
    assert "It counts in" not in site.visitor("eve").get(f"/submissions/{marked}").text
    with site.database() as session:
        session.merge(contest).ends_at = now
    for name in ("ada", "eve"):
        assert "Step by step" in site.visitor(name).get(SOLUTIONS).text


def test_solutions_are_closed_while_there_is_time_for_an_assignment(site: Site) -> None:
    enter(site, "ada", timed())
    now, day = site.services.clock(), timedelta(days=1)
    with site.database() as session:
        user = find_user(session, "ada")
        assert user is not None
        group = Class(title="Spring", description="", code=classes.new_code(), created_at=now)
        session.add(group)
        session.flush()
        classes.join(session, group, user_id=user.id, known_as="Ada", now=now)
        assignment = add_assignment(session, group.id, now=now, opens_at=now - day, due_at=now + day)
    shown = site.visitor("ada").get(SOLUTIONS).text
    assert "are closed until" in shown
    assert "Give up and show" not in shown
    # No form is on the page then; who sends one all the same gets nowhere.
    assert post(site.visitor("ada"), f"{CHALLENGE}/give-up", {"sure": "1"}, page=CHALLENGE).status_code == 403
    with site.database() as session:
        session.merge(assignment).due_at = now
    assert "Step by step" in site.visitor("ada").get(SOLUTIONS).text


@pytest.mark.parametrize("kind", ["assignment", "contest"])
def test_an_open_assignment_or_contest_closes_solutions_to_everybody_by_its_switch(
    site: Site, published: str, kind: str
) -> None:
    enter(site, "bob", timed(2e-4))  # has solved it, and is in no class and no contest
    now, day = site.services.clock(), timedelta(days=1)
    late = now + 3 * day
    with site.database() as session:
        bob = find_user(session, "bob")
        assert bob is not None
        if kind == "contest":
            row: Contest | Assignment = Contest(
                slug="friday",
                title="Friday",
                description="",
                starts_at=now - day,
                ends_at=late,
                scoring="points",
                devices=H200.key,
                created_at=now,
            )
            contests.set_challenges(row, ["vector-add"])  # type: ignore[arg-type]
            session.add(row)
        else:
            group = Class(title="Spring", description="", code=classes.new_code(), created_at=now)
            session.add(group)
            session.flush()
            row = add_assignment(session, group.id, now=now, opens_at=now - day, due_at=now + day)
            other = find_user(session, "ada")
            assert other is not None
            classes.set_extension(session, row, user_id=other.id, due_at=late)
    said = f"are closed until {late:%Y-%m-%d %H:%M} UTC"
    client, token = site.visitor("bob"), {"Authorization": f"Bearer {site.token_of('bob')}"}
    for viewer in (client, site.app.test_client()):
        shown = viewer.get(SOLUTIONS).text
        assert said in shown
        assert "Step by step" not in shown
        assert published not in shown
    assert client.get(f"{SOLUTIONS}/{published}").status_code == 403
    for path in (API, f"{API}/{published}/source"):
        answer = site.app.test_client().get(path, headers=token)
        assert answer.status_code == 403
        assert said in answer.get_json()["detail"]
    assert site.visitor("ada").get(f"{SOLUTIONS}/{published}").status_code == 200  # one's own
    eve = post(site.visitor("eve"), f"{CHALLENGE}/give-up", {"sure": "1"}, page=CHALLENGE)
    assert eve.status_code == 403
    with site.database() as session:
        session.merge(row).closes_solutions = False
    assert published in client.get(SOLUTIONS).text
    assert client.get(f"{SOLUTIONS}/{published}").status_code == 200


def test_operators_read_all_solutions(site: Site, published: str) -> None:
    client = site.visitor("carol")
    assert client.get(f"{SOLUTIONS}/{published}").status_code == 403
    with site.database() as session:
        user = find_user(session, "carol")
        assert user is not None
        user.role = Role.OPERATOR
    assert "nobody but them" in client.get(f"{SOLUTIONS}/{published}").text


def test_a_submission_that_is_judged_again_is_no_solution_meanwhile(site: Site, published: str) -> None:
    with site.database() as session:
        submission = session.merge(site.submission(published))
        submission.state, submission.verdict, submission.judgement = State.QUEUED, None, None
    enter_bob = site.visitor("bob")
    give_up(enter_bob)
    assert enter_bob.get(f"{SOLUTIONS}/{published}").status_code == 404


def test_personal_data_have_likes_and_what_was_given_up_and_go_with_the_account(site: Site, published: str) -> None:
    bob = site.visitor("bob")
    give_up(bob)
    page = f"{SOLUTIONS}/{published}"
    post(bob, f"{page}/like", {}, page=page)
    with bob.get("/account/export") as answer, zipfile.ZipFile(BytesIO(answer.data)) as archive:
        account = json.loads(archive.read("account.json"))
    assert [one["challenge"] for one in account["given_up"]] == ["vector-add"]
    assert [one["submission"] for one in account["likes"]] == [published]
    with site.database() as session:
        user = find_user(session, "bob")
        assert user is not None
        close_account(session, user=user, now=site.services.clock())
    assert "0 likes" in site.visitor("ada").get(page).text
    with site.database() as session:
        user = find_user(session, "ada")
        assert user is not None
        close_account(session, user=user, now=site.services.clock())
    give_up(site.visitor("dora"))
    assert site.visitor("dora").get(page).status_code == 404


def test_the_workbench_has_a_tab_for_solutions(site: Site) -> None:
    assert f'id="tab-solutions" href="{SOLUTIONS}"' in site.app.test_client().get(CHALLENGE).text
