"""Tracks on the site: pages, progress, lessons, the goal on a submission's page, and the API."""

from __future__ import annotations

import dataclasses

from markupsafe import escape

from judge.measurements import Measurement, ModelledCase
from judge.tracks.goal import Goal
from judge.tracks.loader import builtin_tracks
from store.operation.administration import rejudge
from store.operation.operator_log import Actor
from store.people.accounts import find_user
from store.submissions import get_submission
from store.teaching.goals import reached_goals
from tests.integration.web.test_modelled_time import modelled
from tests.web_site import KERNEL, Site, accepted, post

TRACK = "/tracks/first-kernels"


def shown(*, sectors: int) -> Measurement:
    """A score of the emulator whose kernel moved ``sectors`` sectors where 40 would do."""
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
    assert "This submission: 2.0" in page
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


def test_a_challenge_of_a_track_shows_where_it_stands_in_it(site: Site) -> None:
    page = site.app.test_client().get("/challenges/relu").text
    bar = page.split('class="track-bar"')[1].split("</nav>")[0]
    assert "First kernels</a>, 2 of 9" in bar
    assert "at least 99 % of lanes active" in bar
    assert 'href="/tracks/first-kernels/relu">Lesson' in bar
    assert 'href="/challenges/vector-add">‹ Vector addition' in bar
    assert 'href="/tracks/first-kernels/clamp">Clamp ›' in bar
    assert "not reached" not in bar, "of nobody nothing is known"
    assert "(not reached yet)" in site.visitor().get("/challenges/relu").text
    assert 'class="track-bar"' not in site.app.test_client().get("/challenges/rope").text


def test_after_an_accepted_submission_the_first_button_is_the_next_lesson(site: Site) -> None:
    page = site.visitor().get(submit(site, sectors=40)).text
    head = page.split('class="page-head"')[1]
    assert head.index("Next: ReLU") < head.index("Leaderboard</a>") < head.index("Back to the editor")
    run = site.visitor().get(submit(site, sectors=40, mode="run")).text
    assert "Next: ReLU" not in run
    bar = site.visitor().get("/challenges/vector-add").text.split('class="track-bar"')[1].split("</nav>")[0]
    assert "reached</span>" in bar
    assert "Next: ReLU" in bar


def test_the_first_page_says_where_to_go_on(site: Site) -> None:
    assert "Start: First kernels, lesson 1 of 9" in site.visitor().get("/").text
    submit(site, sectors=40)
    page = site.visitor().get("/").text
    assert "Continue: First kernels, lesson 2 of 9" in page
    assert 'href="/tracks/first-kernels/relu"' in page
    assert "Continue:" not in site.app.test_client().get("/").text


def test_the_first_page_of_a_stranger_shows_where_to_start_the_tracks_and_the_newest_boards(site: Site) -> None:
    submit(site, sectors=40)
    page = site.app.test_client().get("/").text
    assert 'href="/challenges/vector-add">Start with Vector addition' in page
    for track in builtin_tracks().tracks:
        assert f'href="/tracks/{track.slug}"' in page
    assert "9 challenges" in page
    assert 'href="/leaderboards/vector-add?device=emulator"' in page


def test_the_kernel_of_a_lesson_opens_in_the_editor(site: Site) -> None:
    visitor = site.app.test_client()
    lesson = visitor.get(f"{TRACK}/relu").text
    assert 'href="/challenges/relu?example=lesson"' in lesson
    assert 'data-copy="kernel-source"' in lesson
    found = builtin_tracks().of("relu")
    assert found is not None
    kernel = found[1].kernel()
    assert str(escape(kernel)) in visitor.get("/challenges/relu?example=lesson").text
    assert visitor.get("/challenges/rope?example=lesson").status_code == 200


def test_a_triton_lesson_opens_in_the_editor_in_its_language(site: Site) -> None:
    visitor = site.app.test_client()
    lesson = visitor.get("/tracks/triton/matrix-add").text
    assert '<span class="tok-cp">@triton.jit</span>' in lesson.split('id="kernel-source"')[1]
    found = builtin_tracks().of("matrix-add")
    assert found is not None
    opened = visitor.get("/challenges/matrix-add?example=lesson").text
    assert str(escape(found[1].kernel())) in opened
    assert '<option value="triton" selected' in opened
    assert '<option value="cuda" selected' in visitor.get("/challenges/matrix-add").text
    steps = visitor.get("/api/v1/tracks/triton").json["steps"]
    assert {step["language"] for step in steps} == {"triton"}


def test_a_kernel_that_lacks_what_the_goal_counts_is_not_sent_to_the_emulator_again(site: Site) -> None:
    site.add_device()
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    sent = post(site.visitor(), "/challenges/vector-add/submissions", data)
    [case] = modelled().cases
    assert isinstance(case, ModelledCase)
    bare = dataclasses.replace(case, kernels=())
    site.work(cases=accepted("a"), measurement=dataclasses.replace(modelled(), cases=(bare,)))
    page = site.visitor().get(sent.headers["Location"]).text
    assert "Nothing in this submission counts toward the goal" in page
    assert "Only the emulator counts this" not in page
