"""Tracks on the site: pages, progress, lessons, the goal on a submission's page, and the API."""

from __future__ import annotations

import dataclasses

from judge.judgement import Measurement
from judge.tracks.goal import Goal
from judge.tracks.loader import builtin_tracks
from store.accounts import find_user
from store.administration import rejudge
from store.goals import reached_goals
from store.operator_log import Actor
from store.submissions import get_submission
from tests.integration.web.test_modelled_time import modelled
from tests.web_site import KERNEL, Site, accepted, post

TRACK = "/tracks/first-kernels"


def shown(*, sectors: int) -> Measurement:
    """A score of the emulator whose kernel moved so many sectors where 40 would do."""
    score = modelled()
    [case] = score.cases
    assert hasattr(case, "kernels")
    kernel = dataclasses.replace(case.kernels[0], global_sectors=sectors, global_sectors_ideal=40)
    return dataclasses.replace(score, cases=(dataclasses.replace(case, kernels=(kernel,)),))


def submit(site: Site, *, sectors: int, mode: str = "submit") -> str:
    """Submits to vector-add as ada; returns the submission's address."""
    site.add_device()
    data = {"source": KERNEL, "device": "emulator", "mode": mode}
    sent = post(site.visitor(), "/challenges/vector-add/submissions", data)
    site.work(cases=accepted("a"), measurement=shown(sectors=sectors))
    return sent.headers["Location"]


def reached(site: Site) -> frozenset[str]:
    with site.database() as session:
        user = find_user(session, "ada")
        assert user is not None
        return reached_goals(session, user_id=user.id)


def vector_add_goal() -> Goal:
    goal = builtin_tracks().goal_of("vector-add")
    assert goal is not None
    assert goal.figure.name == "sectors_over_ideal"
    return goal


def test_anybody_reads_tracks_and_nobody_else_has_progress(site: Site) -> None:
    visitor = site.app.test_client()
    page = visitor.get("/tracks/").text
    for track in builtin_tracks().tracks:
        assert f"/tracks/{track.slug}" in page
    assert "goals reached" not in page
    page = visitor.get(TRACK).text
    assert "Why in this order" in page
    assert "Log in</a> to see your progress" in page
    assert vector_add_goal().text in page
    assert visitor.get("/tracks/nothing").status_code == 404


def test_a_goal_counts_once_a_submission_shows_it(site: Site) -> None:
    page = site.visitor().get(submit(site, sectors=80)).text
    assert "Goal of the track" in page
    assert "Not reached." in page
    assert "This submission has 2.0" in page
    assert reached(site) == frozenset()
    page = site.visitor().get(TRACK).text
    assert page.count("solved</span>") == 1
    assert "goal reached</span>" not in page
    page = site.visitor().get(submit(site, sectors=40)).text
    assert "reached</span>" in page
    assert "Not reached." not in page
    assert reached(site) == {"vector-add"}
    page = site.visitor().get(TRACK).text
    assert page.count("goal reached</span>") == 1
    assert "1 solved, 1 goal reached" in site.visitor().get("/tracks/").text.replace("  ", " ")


def test_a_run_of_the_public_cases_reaches_no_goal(site: Site) -> None:
    submit(site, sectors=40, mode="run")
    assert reached(site) == frozenset()


def test_a_submission_that_is_judged_again_has_to_show_it_again(site: Site) -> None:
    address = submit(site, sectors=40)
    with site.database() as session:
        submission = get_submission(session, address.rsplit("/", 1)[1])
        assert submission is not None
        rejudge(session, Actor("ops"), submission, "another pack", now=site.services.clock())
    assert reached(site) == frozenset()
    site.work(cases=accepted("a"), measurement=shown(sectors=80))
    assert reached(site) == frozenset()


def test_the_page_of_a_measured_time_says_where_the_goal_shows(site: Site) -> None:
    site.add_device()
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    sent = post(site.visitor(), "/challenges/vector-add/submissions", data)
    site.work(cases=accepted("a"), measurement=dataclasses.replace(modelled(), cases=()))
    page = site.visitor().get(sent.headers["Location"]).text
    assert "Only the emulator counts this" in page


def test_lessons_show_text_drawing_and_kernel(site: Site) -> None:
    lessons = [(track, step) for track in builtin_tracks().tracks for step in track.steps if step.lesson]
    assert lessons
    visitor = site.app.test_client()
    for track, step in lessons:
        page = visitor.get(f"/tracks/{track.slug}/{step.challenge}")
        assert page.status_code == 200
        assert step.drawing() in page.text
        assert "solve" in page.text
        assert f"/challenges/{step.challenge}" in page.text
    assert visitor.get(f"{TRACK}/nothing").status_code == 404


def test_the_api_tells_of_tracks_and_of_ones_own_progress(site: Site) -> None:
    submit(site, sectors=40)
    client = site.app.test_client()
    listed = client.get("/api/v1/tracks").json
    assert [one["slug"] for one in listed["tracks"]] == [track.slug for track in builtin_tracks().tracks]
    whole = client.get("/api/v1/tracks/first-kernels").json
    assert whole["challenges"][0] == "vector-add"
    first = whole["steps"][0]
    assert (first["challenge"], first["goal"]) == ("vector-add", vector_add_goal().key)
    own = {"Authorization": f"Bearer {site.token_of('ada')}"}
    progress = client.get("/api/v1/tracks/first-kernels/progress", headers=own).json
    assert progress == {"track": "first-kernels", "solved": ["vector-add"], "reached": ["vector-add"]}
    assert client.get("/api/v1/tracks/first-kernels/progress").status_code == 401
    assert client.get("/api/v1/tracks/nothing").status_code == 404
