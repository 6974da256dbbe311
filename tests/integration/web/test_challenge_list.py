"""The list of challenges: its figures, filters and order, all from the URL."""

from __future__ import annotations

import re

from judge.tracks.loader import builtin_tracks
from tests.web_site import KERNEL, Site, accepted, post, timed, wrong

PAGE = "/challenges/vector-add"
JSON = {"Accept": "application/json"}


def _listed(html: str) -> list[str]:
    return re.findall(r'class="title" href="/challenges/([^"]+)"', html)


def _submit(site: Site, username: str) -> None:
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    assert post(site.visitor(username), f"{PAGE}/submissions", data, page=PAGE, headers=JSON).status_code == 201


def _row(html: str, slug: str) -> str:
    return next(row for row in re.findall(r"<tr.*?</tr>", html, re.DOTALL) if f"/challenges/{slug}" in row)


def test_filters_leave_out_what_does_not_fit(site: Site) -> None:
    client = site.app.test_client()
    everything = _listed(client.get("/").text)
    assert {"vector-add", "softmax", "attention"} <= set(everything)
    assert _listed(client.get("/?q=VECTOR+add").text)[0] == "vector-add"
    assert "rgb-to-gray" not in _listed(client.get("/?q=VECTOR+add").text)
    easy = _listed(client.get("/?difficulty=easy").text)
    assert "vector-add" in easy
    assert "attention" not in easy
    assert "attention" in _listed(client.get("/?tag=attention").text)
    assert _listed(client.get("/?q=no+such+thing").text) == []
    assert "No challenge matches" in client.get("/?q=no+such+thing").text


def test_unknown_filters_ask_for_nothing(site: Site) -> None:
    client = site.app.test_client()
    everything = _listed(client.get("/").text)
    for query in ("difficulty=nightmare", "status=asleep", "sort=%00", "colour=red"):
        assert _listed(client.get(f"/?{query}").text) == everything


def test_names_sort_by_name(site: Site) -> None:
    page = site.app.test_client().get("/?sort=title").text
    titles = re.findall(r'class="title" href="[^"]+">([^<]+)', page)
    assert titles == sorted(titles, key=str.casefold)


def test_a_track_is_a_filter_and_an_order(site: Site) -> None:
    client = site.app.test_client()
    (track, other, *_) = builtin_tracks().tracks
    steps = [step.challenge for step in track.steps]
    assert _listed(client.get(f"/?track={track.slug}&sort=track").text) == steps
    assert sorted(_listed(client.get(f"/?track={track.slug}").text)) == sorted(steps)
    everything = _listed(client.get("/?sort=track").text)
    assert everything[: len(steps) + len(other.steps)] == steps + [step.challenge for step in other.steps]
    assert builtin_tracks().of(everything[-1]) is None
    assert _listed(client.get("/?track=nothing").text) == []


def test_rows_show_solvers_acceptance_and_times(site: Site) -> None:
    _submit(site, "eve")
    site.work(cases=(wrong(),))
    _submit(site, "eve")
    site.work(cases=accepted("n-1"), measurement=timed(2e-5))
    _submit(site, "ada")
    site.work(cases=accepted("n-1"), measurement=timed(3e-5))
    page = site.visitor("ada").get("/").text
    row = _row(page, "vector-add")
    figures = re.findall(r'<td class="number hide-phone">([^<]*)</td>', row)
    assert figures == ["2", "66.7 %", "20.0 µs", "30.0 µs"]
    assert "Solved by you" in row
    assert "vector-add" in _listed(site.visitor("ada").get("/?status=solved").text)
    assert "vector-add" not in _listed(site.visitor("ada").get("/?status=new").text)
    assert _listed(site.visitor("ada").get("/?sort=solvers").text)[0] == "vector-add"


def test_a_challenge_that_was_only_tried_says_so(site: Site) -> None:
    _submit(site, "ada")
    site.work(cases=(wrong(),))
    assert "Tried by you" in _row(site.visitor("ada").get("/").text, "vector-add")
    assert _listed(site.visitor("ada").get("/?status=tried").text) == ["vector-add"]


def test_a_search_shows_the_best_first_and_a_long_one_is_cut(site: Site) -> None:
    client = site.app.test_client()
    assert _listed(client.get("/?q=grayscale").text)[0] == "rgb-to-gray"
    assert _listed(client.get("/?q=leetgpu+22").text)[0] == "gemm"
    assert client.get("/?q=" + "x" * 10_000).status_code == 200


def test_the_search_of_every_page_leads_to_the_first_hit(site: Site) -> None:
    client = site.app.test_client()
    assert client.get("/search?q=cumsum").headers["Location"] == "/challenges/prefix-sum"
    assert client.get("/search?q=zyzzyva").headers["Location"] == "/?q=zyzzyva"
    assert client.get("/search").headers["Location"] == "/"
    assert client.get("/search?q=" + "x" * 10_000).headers["Location"] == "/?q=" + "x" * 100
    assert 'action="/search"' in client.get("/tracks/").text


def test_addresses_that_people_type_lead_to_what_they_mean(site: Site) -> None:
    client = site.app.test_client()
    for typed, meant in {
        "/challenges": "/",
        "/challenges/": "/",
        "/problems": "/",
        "/leaderboard": "/leaderboards/",
        "/login?next=/tracks/": "/account/log-in?next=/tracks/",
        "/signup": "/account/sign-up",
        "/register": "/account/sign-up",
    }.items():
        answer = client.get(typed)
        assert (answer.status_code, answer.headers["Location"]) == (302, meant)


def test_the_api_searches_as_the_page_does(site: Site) -> None:
    client = site.app.test_client()
    found = client.get("/api/v1/challenges?q=layernorm").json["challenges"]
    assert found[0]["slug"] == "layer-norm"
    assert len(client.get("/api/v1/challenges?q=").json["challenges"]) > len(found)
    assert client.get("/api/v1/challenges?q=" + "x" * 10_000).json == {"challenges": []}
